#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The matcher of the classifier's table. Pure: any thread.
namespace trainyard::diagnosis {

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
