#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace trainyard {

/// The number at the beginning of the text, in base 10 or as `form` says (a base, or
/// std::chars_format); empty: there is none, or it does not fit.
/// Pure: any thread.
template <class Number, class... Form>
[[nodiscard]] std::optional<Number> LeadingNumber(std::string_view text, Form... form) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, form...);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

/// As LeadingNumber; empty also if anything follows the number.
template <class Number, class... Form>
[[nodiscard]] std::optional<Number> WholeNumber(std::string_view text, Form... form) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, form...);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace trainyard
