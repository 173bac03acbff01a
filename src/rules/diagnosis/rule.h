#pragma once

#include <array>
#include <span>
#include <string_view>

#include "rules/diagnosis/observation.h"

namespace trainyard::diagnosis {

inline constexpr std::size_t kPatternsMax = 12;

/// A row of the classifier's table. It holds if `applies` (none: always) does and, where there are patterns,
/// one of them is found in a line of the evidence.
struct Rule {
  std::string_view name;     ///< "import_missing": the diagnosis; several rows may share one
  std::string_view meaning;  ///< for docs/failures.md: what it stands for
  std::string_view
      summary;  ///< one sentence; {1} is the first star, the names are those of ValuesOf (classify.cc)
  std::string_view advice;  ///< one sentence
  std::array<std::string_view, kPatternsMax>
      patterns{};  ///< as rules/diagnosis/pattern.h; empty ones are none
  bool (*applies)(const Symptoms&) = nullptr;
};

// The rows, in order. Text rules are asked for each line of the evidence, the most telling line first.

/// Of the preparation's message.
[[nodiscard]] std::span<const Rule> PreparationRules();
/// Of what the program wrote.
[[nodiscard]] std::span<const Rule> AcceleratorRules();
[[nodiscard]] std::span<const Rule> FrameworkRules();
[[nodiscard]] std::span<const Rule> PythonRules();
[[nodiscard]] std::span<const Rule> SystemRules();
/// Of the end alone: what the kernel and the status tell, without any text. Kernel's word first.
[[nodiscard]] std::span<const Rule> KernelRules();
[[nodiscard]] std::span<const Rule> EndRules();

}  // namespace trainyard::diagnosis
