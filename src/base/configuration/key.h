#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::configuration {

/// A flag of `trainyard serve`, and the key of the configuration file: its name without "--".
struct Key {
  enum class Kind {
    kSwitch,  ///< true or false
    kText,    ///< one value
    kList,    ///< several values: the flag may be repeated
  };
  std::string name;  ///< "bucket-dir"; "create-buckets" for --no-create-buckets
  std::string flag;  ///< "--bucket-dir"; "--no-create-buckets"
  Kind kind = Kind::kText;
  bool turns_off = false;  ///< a switch whose flag means false
  std::string metavar;     ///< "NAME=PATH", "on|off"; empty for a switch
  std::string help;        ///< a sentence about the flag
  std::string fallback;    ///< the value if neither flag nor key is given; empty: none
  std::string variable;    ///< the environment variable that `fallback` came from; empty: built in

  /// Whether its values have the form NAME=VALUE, so the file may have a mapping instead.
  [[nodiscard]] bool takes_pairs() const { return metavar.contains('='); }
  /// Whether its one value is a comma-separated list, so the file may have a sequence instead.
  [[nodiscard]] bool joins() const { return kind == Kind::kText && metavar.contains(','); }
  [[nodiscard]] bool is_on_off() const { return metavar == "on|off"; }
  /// Whether it is a path, which must not depend on the working directory at the server's start.
  [[nodiscard]] bool is_path() const { return metavar == "DIR" || metavar == "FILE"; }
};

/// A value of a key. Lines are counted from 1; 0: not from a file.
struct Value {
  std::string text;  ///< as after the flag; "true" or "false" for a switch
  int line = 0;
  friend bool operator==(const Value&, const Value&) = default;
};
struct Setting {
  std::string key;
  int line = 0;
  std::vector<Value> values;  ///< one, unless the key is a list
  friend bool operator==(const Setting&, const Setting&) = default;
};

/// Finds the element of that name; null if there is none. Pure: any thread.
[[nodiscard]] inline const Key* FindKey(std::span<const Key> keys, std::string_view name) {
  const auto found = std::ranges::find(keys, name, &Key::name);
  return found == keys.end() ? nullptr : &*found;
}
[[nodiscard]] inline const Setting* FindSetting(std::span<const Setting> settings, std::string_view key) {
  const auto found = std::ranges::find(settings, key, &Setting::key);
  return found == settings.end() ? nullptr : &*found;
}

}  // namespace trainyard::configuration
