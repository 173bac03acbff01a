#pragma once

#include <array>
#include <span>
#include <string_view>

#include "rules/diagnosis/observation.h"

namespace trainyard::diagnosis {

inline constexpr std::size_t kPatternsMax = 12;

/// A row of the classifier's table. It matches if `applies` returns true (null: always) and, if there are
/// patterns, one of them is found in a line of the evidence and `fits`.
struct Rule {
  std::string_view name;     ///< "import_missing": the diagnosis; several rows may share one
  std::string_view meaning;  ///< for docs/failures.md: its meaning
  std::string_view
      summary;  ///< one sentence; {1} is the first star, the names are those of ValuesOf (classify.cc)
  std::string_view advice;          ///< one sentence
  std::string_view run_advice{};    ///< for a program of `trainyard run`; empty: the same
  std::string_view image_advice{};  ///< for a program in a container image; empty: the same
  std::array<std::string_view, kPatternsMax>
      patterns{};  ///< see rules/diagnosis/classify.h; empty ones are ignored
  bool (*applies)(const Symptoms&) = nullptr;
  bool (*fits)(std::span<const std::string_view> captures) = nullptr;  ///< null: any captures do
};

/// The package that was being installed, by the tool's lines; empty: none. A view into the symptoms.
[[nodiscard]] std::string_view PackageUri(const Symptoms& seen);

// The rows, in order. Text rules are tried on each line of the evidence, the most informative line first.

/// Rules for the preparation's message.
[[nodiscard]] std::span<const Rule> PreparationRules();
/// Rules for the program's output.
[[nodiscard]] std::span<const Rule> AcceleratorRules();
[[nodiscard]] std::span<const Rule> FrameworkRules();
[[nodiscard]] std::span<const Rule> PythonRules();
[[nodiscard]] std::span<const Rule> SystemRules();
/// Rules for the end alone: the kernel's information and the status, without any text. The kernel's rules
/// come first.
[[nodiscard]] std::span<const Rule> KernelRules();
[[nodiscard]] std::span<const Rule> EndRules();

}  // namespace trainyard::diagnosis
