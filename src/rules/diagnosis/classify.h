#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/diagnosis/observation.h"

/// Why a replica failed. Pure: any thread.
namespace trainyard::diagnosis {

/// The diagnosis of an attempt that ended; nullopt for one that succeeded or was stopped because its job is
/// over. The kernel's information has precedence over the program's output, an uncaught exception over other
/// lines, later lines over earlier ones; the status or signal alone is used last.
[[nodiscard]] std::optional<replica::v1::Diagnosis> Classify(const Symptoms& seen);

/// One diagnosis of the table, for documentation.
struct Entry {
  std::string_view name;
  std::string_view meaning;
  std::string_view advice;
};
/// Every diagnosis that Classify can give, by name, without repetition.
[[nodiscard]] std::vector<Entry> Entries();

/// The texts matched by the stars of a pattern, in order. Views into the text.
using Captures = std::vector<std::string_view>;

/// Searches for the pattern anywhere in the text: literal parts with `*` between them. A star matches as
/// little as possible; one at the pattern's end matches the rest. Case-sensitive. Linear time: no
/// backtracking.
[[nodiscard]] std::optional<Captures> Match(std::string_view pattern, std::string_view text);

/// One value for a template.
struct TemplateValue {
  std::string_view name;
  std::string text;
};

/// Replaces "{1}" to "{9}" by captures and "{name}" by values. Missing ones become empty. Captures are
/// shortened to a readable length.
[[nodiscard]] std::string Fill(std::string_view form, const Captures& captures,
                               std::span<const TemplateValue> values);

}  // namespace trainyard::diagnosis
