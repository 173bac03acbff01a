#include "base/configuration/effective_file.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

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

/// A value as YAML that Read reads back as the same text: plain if that is safe, else in double quotes. Pure:
/// any thread.
std::string ScalarText(std::string_view value) {
  return IsPlain(value) ? std::string(value) : text::QuoteJson(value);
}

}  // namespace

std::string PrintSetting(const Key& key, std::span<const Value> values, std::string_view comment) {
  const std::string end =
      comment.empty() ? "\n" : "  # " + text::EscapeJson(comment) + "\n";  // a path may have a line end
  std::string out = key.name + ":";
  if (key.kind == Key::Kind::kSwitch) return out + " " + values.front().text + end;
  if (key.kind == Key::Kind::kText) return out + " " + ScalarText(values.front().text) + end;
  if (values.empty()) return out + " []" + end;
  out += end;
  for (const Value& value : values) out += "  - " + ScalarText(value.text) + "\n";
  return out;
}

std::string PrintEffective(std::span<const Effective> settings) {
  std::string out = "# The settings of `trainyard serve`, and where each comes from.\n";
  for (const Effective& setting : settings) {
    if (setting.is_set())
      out += PrintSetting(setting.key, setting.values, setting.source);
    else
      out += "# " + setting.key.name + ": " + setting.key.metavar + "  # not set\n";
  }
  return out;
}

}  // namespace trainyard::configuration
