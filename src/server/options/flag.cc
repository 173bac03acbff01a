#include "server/options/flag.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/ascii.h"
#include "base/text/suggestion.h"
#include "cli/commands.h"

namespace trainyard::server {
namespace {

using configuration::Key;
using configuration::Setting;

constexpr std::string_view kHelp = "help";

const std::vector<const Flag*>& AllFlags() {
  static const std::vector<const Flag*> kAll = [] {
    std::vector<const Flag*> all;
    for (const std::span<const Flag> group :
         {DoorFlags(), JobFlags(), EngineFlags(), KubernetesFlags(), StorageFlags(), NoticeFlags()})
      for (const Flag& flag : group) all.push_back(&flag);
    return all;
  }();
  return kAll;
}

const Flag* FindFlag(std::string_view name) {
  if (name == "-h") name = "--help";
  const auto found = std::ranges::find(AllFlags(), name, &Flag::name);
  return found == AllFlags().end() ? nullptr : *found;
}

/// "bucket-dir"; "create-buckets" for --no-create-buckets.
std::string KeyName(const Flag& flag) {
  return std::string(flag.name.substr(std::string_view(flag.use.turns_off ? "--no-" : "--").size()));
}

/// `variable`: the environment variable that the path comes from; empty: the home directory.
struct DefaultDataDir {
  std::string path;
  std::string variable;
};

DefaultDataDir FindDefaultDataDir() {
  if (const char* dir = std::getenv("TRAINYARD_DATA"); dir != nullptr && *dir != '\0')
    return {dir, "TRAINYARD_DATA"};
  if (const char* dir = std::getenv("XDG_DATA_HOME"); dir != nullptr && *dir == '/')
    return {std::string(dir) + "/trainyard", "XDG_DATA_HOME"};
  const char* home = std::getenv("HOME");
  return {std::string(home != nullptr ? home : "/root") + "/.local/share/trainyard", ""};
}

std::string Nearest(std::string_view word, const std::vector<std::string_view>& names) {
  return std::string(text::Suggest(word, names));
}

Error ExplainUnknown(const std::vector<std::string>& words) {
  std::vector<std::string_view> names;
  for (const Flag* flag : AllFlags()) names.push_back(flag->name);
  std::string text = "unrecognized arguments:";
  for (const std::string& word : words) {
    const std::string meant = Nearest(std::string_view(word).substr(0, word.find('=')), names);
    text += " " + word + (meant.empty() || !word.starts_with("--") ? "" : " (did you mean '" + meant + "'?)");
  }
  return InvalidArgument("", text);
}

/// "true" or "false": what the switch makes of its key. `text` is what follows "=".
Result<std::string> SwitchValue(const Flag& flag, const std::string& text) {
  static constexpr auto kOn =
      std::to_array<std::string_view>({"", "true", "on", "yes", "enable", "t", "y", "1"});
  static constexpr auto kOff =
      std::to_array<std::string_view>({"false", "off", "no", "disable", "f", "n", "0"});
  const std::string word = ToLower(text);
  const bool is_on = std::ranges::find(kOn, word) != kOn.end();
  if (!is_on && std::ranges::find(kOff, word) == kOff.end())
    return std::unexpected(
        InvalidArgument("", "Could not convert: " + std::string(flag.name) + " = " + text));
  return is_on != flag.use.turns_off ? "true" : "false";
}

Status ReadValues(const Flag& flag, FlagValues values, ServeOptions& options) {
  Status read = flag.use.read(flag, values, options);
  if (!read) read.error().field = flag.name;
  return read;
}

Key KeyOf(const Flag& flag, const ServeOptions& defaults) {
  Key key{.name = KeyName(flag),
          .flag = std::string(flag.name),
          .kind = flag.use.kind,
          .turns_off = flag.use.turns_off,
          .metavar = std::string(flag.metavar),
          .help = std::string(flag.help),
          .fallback = flag.use.fallback == nullptr ? "" : flag.use.fallback(flag, defaults)};
  if (key.name == "data") key.variable = FindDefaultDataDir().variable;
  return key;
}

/// Adds the values of one flag's word to the settings.
Status AddValue(const Flag& flag, std::string value, std::vector<Setting>& settings) {
  const std::string name = KeyName(flag);
  auto setting = std::ranges::find(settings, name, &Setting::key);
  if (setting == settings.end()) setting = settings.insert(settings.end(), {.key = name});
  if (flag.use.kind == Key::Kind::kText && !setting->values.empty())
    return std::unexpected(InvalidArgument(flag.name, "expected one argument"));
  if (flag.use.kind == Key::Kind::kSwitch) setting->values.clear();  // the last value counts
  setting->values.push_back({.text = std::move(value)});
  return {};
}

}  // namespace

std::vector<Key> DescribeServeFlags() {
  const ServeOptions defaults{.data_dir = FindDefaultDataDir().path};
  std::vector<Key> keys;
  for (const Flag* flag : AllFlags()) keys.push_back(KeyOf(*flag, defaults));
  std::ranges::sort(keys, {}, &Key::flag);
  return keys;
}

std::vector<Key> ConfigurationKeys() {
  std::vector<Key> keys = DescribeServeFlags();
  std::erase_if(keys, [](const Key& key) { return !FindFlag(key.flag)->use.is_setting; });
  for (Key& key : keys)
    if (key.kind == Key::Kind::kSwitch) key.fallback = key.turns_off ? "true" : "false";
  std::ranges::sort(keys, {}, &Key::name);
  return keys;
}

Result<std::vector<Setting>> SettingsOf(const std::vector<std::string>& words) {
  std::vector<Setting> settings;
  std::vector<std::string> unknown;
  for (auto word = words.begin(); word != words.end(); ++word) {
    const std::size_t equals = word->find('=');
    const Flag* flag = FindFlag(std::string_view(*word).substr(0, equals));
    if (*word == "--") {
      if (words.end() - word > 1) unknown.insert(unknown.end(), word, words.end());
      break;
    }
    if (flag == nullptr) {
      unknown.push_back(*word);
      continue;
    }
    std::string value = equals == std::string::npos ? "" : word->substr(equals + 1);
    if (flag->use.kind == Key::Kind::kSwitch) {
      TY_TRY(value, SwitchValue(*flag, value));
    } else if (value.empty()) {  // "--flag=" takes the next word, too
      if (++word == words.end()) return std::unexpected(InvalidArgument(flag->name, "expected one argument"));
      value = *word;
    }
    TY_RETURN_IF_ERROR(AddValue(*flag, std::move(value), settings));
  }
  if (!unknown.empty() && FindSetting(settings, kHelp) == nullptr)
    return std::unexpected(ExplainUnknown(unknown));
  return settings;
}

Status CheckValues(const Key& key, FlagValues values) {
  ServeOptions scratch;
  return ReadValues(*FindFlag(key.flag), values, scratch);
}

Result<ServeOptions> OptionsWith(std::span<const Setting> settings) {
  ServeOptions options{.data_dir = FindDefaultDataDir().path};
  for (const Flag* flag : AllFlags()) {
    const Setting* setting = FindSetting(settings, KeyName(*flag));
    if (setting != nullptr) TY_RETURN_IF_ERROR(ReadValues(*flag, setting->values, options));
  }
  TY_RETURN_IF_ERROR(CheckFlagPairs(options));
  options.data_dir = std::filesystem::absolute(options.data_dir).lexically_normal().string();
  return options;
}

Result<std::optional<ServeOptions>> ReadServeFlags(const std::vector<std::string>& words) {
  TY_TRY(const std::vector<Setting> settings, SettingsOf(words));
  if (FindSetting(settings, kHelp) != nullptr) return std::nullopt;
  TY_TRY(ServeOptions options, OptionsWith(settings));
  return options;
}

Result<std::size_t> ReadChoice(std::string_view metavar, const std::string& text) {
  const std::vector<std::string_view> names = cli::ChoicesOf(metavar);
  const auto found = std::ranges::find(names, ToLower(text));
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  const std::string meant = Nearest(text, names);
  return std::unexpected(InvalidArgument("", "Invalid choice: '" + text + "'. " +
                                                 (meant.empty() ? "" : "Did you mean '" + meant + "'? ") +
                                                 "Valid choices are [" + all + "]."));
}

Result<std::int64_t> ReadWhole(const std::string& text, std::int64_t min, std::int64_t max) {
  char* end = nullptr;
  const std::int64_t number = std::strtoll(text.c_str(), &end, 0);
  if (!text.empty() && end == text.c_str() + text.size() && number >= min && number <= max) return number;
  return std::unexpected(InvalidArgument(
      "", "Value " + text + " not in range " + std::to_string(min) + " to " + std::to_string(max)));
}

Result<double> ReadDecimal(const std::string& text, double max) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (!text.empty() && end == text.c_str() + text.size() && number >= 0 && number <= max) return number;
  return std::unexpected(InvalidArgument(
      "", "Value " + text + " not in range " + std::to_string(0.0) + " to " + std::to_string(max)));
}

constexpr double kGigabyte = 1e9;

Result<std::int64_t> ReadGigabytes(const std::string& text) {
  constexpr double kGigabytesMax = 1e6;
  TY_TRY(const double gigabytes, ReadDecimal(text, kGigabytesMax));
  return static_cast<std::int64_t>(gigabytes * kGigabyte);
}

std::string GigabytesText(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(bytes) / kGigabyte);
  return text;
}

}  // namespace trainyard::server
