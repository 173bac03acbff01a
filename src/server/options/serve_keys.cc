#include "server/options/serve_keys.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "server/options/serve_usage.h"

namespace trainyard::server {
namespace {

using configuration::Key;
using configuration::Setting;

constexpr std::string_view kOff = "no-";

Key KeyOf(const CLI::Option& option) {
  const std::string& name = option.get_lnames().front();
  Key key{
      .name = name, .flag = FlagName(option), .help = HelpOf(option), .fallback = option.get_default_str()};
  if (option.get_items_expected_max() == 0) {  // it takes no value
    key.kind = Key::Kind::kSwitch;
    key.turns_off = option.get_flag_value(name, "") == "false";
    if (key.turns_off && name.starts_with(kOff)) key.name.erase(0, kOff.size());
    key.fallback = key.turns_off ? "true" : "false";
    return key;
  }
  if (option.get_expected_max() > 1) key.kind = Key::Kind::kList;
  key.metavar = option.get_type_name();
  return key;
}

}  // namespace

std::vector<Key> KeysOf(const CLI::App& app) {
  std::vector<Key> keys;
  for (const CLI::Option* option : app.get_options())
    if (option->get_configurable() && !option->get_lnames().empty()) keys.push_back(KeyOf(*option));
  std::ranges::sort(keys, {}, &Key::name);
  return keys;
}

std::vector<Setting> SplitFlags(const std::vector<Key>& keys, const std::vector<std::string>& words) {
  CLI::App app;  // the same flags, without checks and with nothing to write into
  app.allow_extras();
  std::vector<std::pair<const Key*, const CLI::Option*>> options;
  for (const Key& key : keys) {
    const bool is_switch = key.kind == Key::Kind::kSwitch;
    CLI::Option* option =
        is_switch ? app.add_flag((key.turns_off ? "!" : "") + key.flag) : app.add_option(key.flag);
    option->take_all();
    options.emplace_back(&key, option);
  }
  app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  std::vector<Setting> settings;
  for (const auto& [key, option] : options) {
    if (option->count() == 0) continue;
    Setting setting{.key = key->name};
    for (const std::string& text : option->results()) setting.values.push_back({.text = text});
    if (key->kind == Key::Kind::kSwitch)  // the last value counts
      setting.values = {
          {.text = CLI::detail::to_flag_value(setting.values.back().text) > 0 ? "true" : "false"}};
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace trainyard::server
