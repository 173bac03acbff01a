#include "base/configuration/effective_file.h"

#include "base/configuration/scalar_text.h"
#include "base/text/json_string.h"

namespace trainyard::configuration {

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
  std::string out = "# The settings of `trainyard serve`, and where each is from.\n";
  for (const Effective& setting : settings) {
    if (setting.is_set())
      out += PrintSetting(setting.key, setting.values, setting.source);
    else
      out += "# " + setting.key.name + ": " + setting.key.metavar + "  # not set\n";
  }
  return out;
}

}  // namespace trainyard::configuration
