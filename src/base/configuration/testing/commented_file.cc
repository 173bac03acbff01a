#include "base/configuration/testing/commented_file.h"

#include <algorithm>
#include <vector>

#include "base/configuration/effective_file.h"

namespace trainyard::configuration {
namespace {

constexpr std::size_t kColumns = 100;

/// Words as lines of a comment.
std::string Comment(std::string_view words) {
  std::string out;
  std::string line = "#";
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (line.size() > 1 && line.size() + 1 + word.size() > kColumns) {
      out += line + "\n";
      line = "#";
    }
    line += " " + std::string(word);
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return out + line + "\n";
}

/// The form of its value.
std::string Form(const Key& key) {
  switch (key.kind) {
    case Key::Kind::kSwitch: return "true or false";
    case Key::Kind::kList: return "a list of " + key.metavar + (key.takes_pairs() ? ", or a mapping" : "");
    case Key::Kind::kText: return key.metavar + (key.takes_pairs() ? ", or a mapping" : "");
  }
  return {};
}

std::string About(const Key& key) {
  const std::string what = key.turns_off ? "If false: " + key.help : key.help;
  const bool has_default = key.kind != Key::Kind::kText || !key.fallback.empty();
  return Comment(what) + Comment("Value: " + Form(key) + (has_default ? "." : "; not set by default."));
}

}  // namespace

std::string PrintCommented(std::string_view preamble, std::span<const Key> keys,
                           std::span<const Setting> active) {
  std::string out(preamble);
  for (const Key& key : keys) {
    out += "\n" + About(key);
    std::vector<Value> values;
    if (!key.fallback.empty()) values.push_back({.text = key.fallback});
    if (const Setting* given = FindSetting(active, key.name)) {
      out += PrintSetting(key, given->values, "");
    } else if (values.empty() && key.kind != Key::Kind::kList) {
      out += "#" + key.name + ":\n";
    } else {
      out += "#" + PrintSetting(key, values, "");
    }
  }
  return out;
}

}  // namespace trainyard::configuration
