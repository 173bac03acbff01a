#include "server/options/settings_layers.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <ranges>
#include <span>
#include <utility>

#include "base/async/file.h"
#include "server/options/flag.h"

namespace trainyard::server {
namespace {

using configuration::Effective;
using configuration::Key;
using configuration::Mistake;
using configuration::Setting;
using configuration::Value;

/// Finds the wrong values: each that is wrong by itself, otherwise the first that is wrong together with
/// those before it.
void CheckSetting(const Key& key, const Setting& setting, std::vector<Mistake>& mistakes) {
  const Status together = CheckValues(key, setting.values);
  if (together) return;
  const std::size_t known = mistakes.size();
  for (const Value& value : setting.values) {
    if (mistakes.size() >= configuration::kMistakesMax) return;
    if (const Status tried = CheckValues(key, {&value, 1}); !tried)
      mistakes.push_back({.line = value.line, .key = key.name, .reason = tried.error().message});
  }
  if (mistakes.size() > known) return;
  const std::span<const Value> all(setting.values);
  const auto counts = std::views::iota(std::size_t{1}, all.size() + 1);
  const auto refused = std::ranges::partition_point(
      counts, [&](std::size_t count) { return CheckValues(key, all.first(count)).has_value(); });
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

Result<ServeOptions> CheckAll(std::span<const Setting> settings) {
  TY_TRY(ServeOptions options, OptionsWith(settings));
  TY_RETURN_IF_ERROR(CheckOptionRules(options));
  return options;
}

/// Attributes an error of all settings together: to a flag that was given, else to the setting of the file
/// without which it does not come.
SettingsRefusal Blame(const Error& error, const std::vector<Key>& keys, std::span<const Setting> in_flags,
                      std::span<const Setting> in_file) {
  const auto refuse = [&error](const Setting& setting) {
    return SettingsRefusal{.in_file = {{.line = setting.line, .key = setting.key, .reason = error.message}}};
  };
  const auto key = std::ranges::find(keys, error.field, &Key::flag);
  if (key == keys.end() || FindSetting(in_flags, key->name) != nullptr) return {.in_flags = error};
  if (const Setting* setting = FindSetting(in_file, key->name)) return refuse(*setting);
  for (const Setting& setting : in_file) {
    std::vector<Setting> others(in_flags.begin(), in_flags.end());
    std::ranges::copy_if(in_file, std::back_inserter(others),
                         [&setting](const Setting& other) { return other.key != setting.key; });
    if (CheckAll(others)) return refuse(setting);
  }
  return {.in_flags = error};
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

constexpr mode_t kPermissions = 07777;

std::string Octal(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & kPermissions));
  return text;
}

}  // namespace

std::string WhoElseMayWrite(const struct stat& file, uid_t self) {
  if (!S_ISREG(file.st_mode)) return {};
  if ((file.st_mode & S_IWOTH) != 0) return "every account may change it (mode " + Octal(file.st_mode) + ")";
  if ((file.st_mode & S_IWGRP) != 0 && file.st_gid != 0)
    return "the accounts of group " + std::to_string(file.st_gid) + " may change it (mode " +
           Octal(file.st_mode) + ")";
  if (file.st_uid != 0 && file.st_uid != self)
    return "it belongs to account " + std::to_string(file.st_uid) + ", which may change it";
  return {};
}

Result<ConfigurationFile> LoadConfigurationFile(const std::string& path) {
  TY_TRY(std::string text, ReadFile(path, configuration::kFileBytesMax));
  ConfigurationFile file{.path = path, .text = std::move(text)};
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) file.warning = WhoElseMayWrite(status, ::geteuid());
  if (!file.warning.empty())
    file.warning = path + ": " + file.warning + ": allow only its owner to write it (chmod 0644)";
  return file;
}

std::expected<LayeredSettings, SettingsRefusal> LayerSettings(const std::vector<std::string>& words,
                                                              const ConfigurationFile* file) {
  const std::vector<Key> keys = ConfigurationKeys();
  configuration::Reading reading;
  if (file != nullptr) reading = ReadAndTry(*file, keys);
  if (!reading.mistakes.empty())
    return std::unexpected(SettingsRefusal{.in_file = std::move(reading.mistakes)});

  auto given = SettingsOf(words);
  if (!given) return std::unexpected(SettingsRefusal{.in_flags = std::move(given).error()});
  std::erase_if(reading.settings,
                [&given](const Setting& setting) { return FindSetting(*given, setting.key) != nullptr; });
  std::vector<Setting> all = *given;
  std::ranges::copy(reading.settings, std::back_inserter(all));
  Result<ServeOptions> options = CheckAll(all);
  if (!options) return std::unexpected(Blame(options.error(), keys, *given, reading.settings));
  LayeredSettings layered{.options = *std::move(options), .file_keys = reading.settings.size()};
  for (const Key& key : keys)
    layered.effective.push_back(EffectiveOf(key, FindSetting(*given, key.name),
                                            FindSetting(reading.settings, key.name),
                                            file == nullptr ? "" : file->path));
  return layered;
}

}  // namespace trainyard::server
