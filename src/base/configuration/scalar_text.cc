#include "base/configuration/scalar_text.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/text/json_string.h"

namespace trainyard::configuration {
namespace {

bool IsAlphanumeric(char c) {
  const char lower = ToLower(c);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

bool IsPlain(std::string_view value) {
  if (value.empty() || ToLower(value) == "null" || value.ends_with(':')) return false;
  if (!IsAlphanumeric(value.front()) && value.front() != '/') return false;
  return std::ranges::all_of(
      value, [](char c) { return IsAlphanumeric(c) || std::string_view("-_./:=,@+*").contains(c); });
}

}  // namespace

std::string ScalarText(std::string_view value) {
  return IsPlain(value) ? std::string(value) : text::QuoteJson(value);
}

}  // namespace trainyard::configuration
