#include "base/configuration/key.h"

#include <algorithm>

namespace trainyard::configuration {

const Key* FindKey(std::span<const Key> keys, std::string_view name) {
  const auto found = std::ranges::find(keys, name, &Key::name);
  return found == keys.end() ? nullptr : &*found;
}

const Setting* FindSetting(std::span<const Setting> settings, std::string_view key) {
  const auto found = std::ranges::find(settings, key, &Setting::key);
  return found == settings.end() ? nullptr : &*found;
}

std::vector<std::string> WordsOf(const Key& key, std::span<const Value> values) {
  std::vector<std::string> words;
  for (const Value& value : values) {
    if (key.kind == Key::Kind::kSwitch) {
      if ((value.text == "true") != key.turns_off) words.push_back(key.flag);
    } else if (value.text.empty()) {  // "--flag=" would take the next word
      words.insert(words.end(), {key.flag, ""});
    } else {
      words.push_back(key.flag + "=" + value.text);
    }
  }
  return words;
}

}  // namespace trainyard::configuration
