#include "server/options/settings_layers.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <ranges>
#include <span>
#include <utility>

#include "server/options/option_rules.h"
#include "server/options/serve_keys.h"

namespace trainyard::server {
namespace {

using configuration::Effective;
using configuration::Key;
using configuration::Mistake;
using configuration::Setting;
using configuration::Value;

/// Checks the values with the parser of their flag.
Status Try(const Key& key, std::span<const Value> values) {
  const auto read = ReadServeFlags(WordsOf(key, values));
  if (!read) return std::unexpected(read.error());
  return {};
}

/// Finds the wrong values: each that is wrong by itself, otherwise the first that is wrong together with
/// those before it.
void CheckSetting(const Key& key, const Setting& setting, std::vector<Mistake>& mistakes) {
  const Status together = Try(key, setting.values);
  if (together) return;
  const std::size_t known = mistakes.size();
  for (const Value& value : setting.values) {
    if (mistakes.size() >= configuration::kMistakesMax) return;
    if (const Status tried = Try(key, {&value, 1}); !tried)
      mistakes.push_back({.line = value.line, .key = key.name, .reason = tried.error().message});
  }
  if (mistakes.size() > known) return;
  const std::span<const Value> all(setting.values);
  const auto counts = std::views::iota(std::size_t{1}, all.size() + 1);
  const auto refused = std::ranges::partition_point(
      counts, [&](std::size_t count) { return Try(key, all.first(count)).has_value(); });
  mistakes.push_back({.line = all[*refused - 1].line, .key = key.name, .reason = together.error().message});
}

/// Reads the file and checks each setting.
configuration::Reading ReadAndTry(const ConfigurationFile& file, const std::vector<Key>& keys) {
  configuration::Reading reading = configuration::Read(file.text, keys);
  for (const Setting& setting : reading.settings)
    CheckSetting(*FindKey(keys, setting.key), setting, reading.mistakes);
  std::ranges::sort(reading.mistakes);
  return reading;
}

/// Attributes an error of all settings together: to the file, unless the flag was given.
SettingsRefusal Blame(const Error& error, const std::vector<Key>& keys, std::span<const Setting> in_file) {
  const auto key = std::ranges::find(keys, error.field, &Key::flag);
  const Setting* setting = key == keys.end() ? nullptr : FindSetting(in_file, key->name);
  if (setting == nullptr) return {.in_flags = error};
  return {.in_file = {{.line = setting->line, .key = setting->key, .reason = error.message}}};
}

Effective EffectiveOf(const Key& key, const Setting* flag, const Setting* in_file, const std::string& path) {
  Effective effective{.key = key};
  if (flag != nullptr) {
    effective.values = flag->values;
    effective.source = "flag";
    if (key.is_path())
      for (Value& value : effective.values) value.text = std::filesystem::absolute(value.text).string();
  } else if (in_file != nullptr) {
    effective.values = in_file->values;
    effective.source = path + ":" + std::to_string(in_file->line);
  } else {
    if (!key.fallback.empty()) effective.values = {{.text = key.fallback}};
    effective.source = key.variable.empty() ? "default" : "environment: " + key.variable;
  }
  return effective;
}

}  // namespace

std::expected<LayeredSettings, SettingsRefusal> LayerSettings(const std::vector<std::string>& words,
                                                              const ConfigurationFile* file) {
  const std::vector<Key> keys = ConfigurationKeys();
  configuration::Reading reading;
  if (file != nullptr) reading = ReadAndTry(*file, keys);
  if (!reading.mistakes.empty())
    return std::unexpected(SettingsRefusal{.in_file = std::move(reading.mistakes)});

  const std::vector<Setting> given = SplitFlags(keys, words);
  std::erase_if(reading.settings,
                [&given](const Setting& setting) { return FindSetting(given, setting.key) != nullptr; });
  std::vector<std::string> all;
  for (const Setting& setting : reading.settings)
    std::ranges::move(WordsOf(*FindKey(keys, setting.key), setting.values), std::back_inserter(all));
  std::ranges::copy(words, std::back_inserter(all));
  const auto read = ReadServeFlags(all);
  if (!read) return std::unexpected(Blame(read.error(), keys, reading.settings));
  LayeredSettings layered{.options = read->value_or(ServeOptions{}), .file_keys = reading.settings.size()};
  if (const Status good = CheckOptionRules(layered.options); !good)
    return std::unexpected(Blame(good.error(), keys, reading.settings));
  for (const Key& key : keys)
    layered.effective.push_back(EffectiveOf(key, FindSetting(given, key.name),
                                            FindSetting(reading.settings, key.name),
                                            file == nullptr ? "" : file->path));
  return layered;
}

}  // namespace trainyard::server
