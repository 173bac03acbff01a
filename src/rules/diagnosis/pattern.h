#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The matcher of the classifier's table. Pure: any thread.
namespace trainyard::diagnosis {

/// What the stars of a pattern stood for, in order. Views into the text.
using Captures = std::vector<std::string_view>;

/// Looks for the pattern anywhere in the text: literal parts with `*` between them. A star takes as little as
/// it can; one at the pattern's end takes the rest. Case counts. Linear: no backtracking.
[[nodiscard]] std::optional<Captures> Match(std::string_view pattern, std::string_view text);

/// One value for a template.
struct TemplateValue {
  std::string_view name;
  std::string text;
};

/// Replaces "{1}" to "{9}" by captures and "{name}" by values. What is not there is left out. Captures are
/// shortened to a readable length.
[[nodiscard]] std::string Fill(std::string_view form, const Captures& captures,
                               std::span<const TemplateValue> values);

}  // namespace trainyard::diagnosis
