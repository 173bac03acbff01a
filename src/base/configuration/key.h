#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::configuration {

/// A key of the configuration file: a flag of `trainyard serve` without its "--".
struct Key {
  enum class Kind {
    kSwitch,  ///< true or false
    kText,    ///< one value
    kList,    ///< a value for each time that the flag may be given
  };
  std::string name;  ///< "bucket-dir"; "create-buckets" for --no-create-buckets
  std::string flag;  ///< "--bucket-dir"; "--no-create-buckets"
  Kind kind = Kind::kText;
  bool turns_off = false;  ///< a switch whose flag means false
  std::string metavar;     ///< "NAME=PATH", "on|off"; empty for a switch
  std::string help;        ///< a sentence about the flag
  std::string fallback;    ///< the value if neither flag nor key is given; empty: none
  std::string variable;    ///< the environment variable that `fallback` is from; empty: it is built in

  /// Its values are written NAME=VALUE: a mapping may stand for them.
  [[nodiscard]] bool takes_pairs() const { return metavar.contains('='); }
  /// One value that is a list with commas: a list may stand for it.
  [[nodiscard]] bool joins() const { return kind == Kind::kText && metavar.contains(','); }
  [[nodiscard]] bool is_on_off() const { return metavar == "on|off"; }
  /// A path, which must not depend on where the server was started.
  [[nodiscard]] bool is_path() const { return metavar == "DIR" || metavar == "FILE"; }
};

/// What a key is given. Lines begin with 1; 0: not from a file.
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

/// Null if there is none of this name. Pure: any thread.
[[nodiscard]] const Key* FindKey(std::span<const Key> keys, std::string_view name);
[[nodiscard]] const Setting* FindSetting(std::span<const Setting> settings, std::string_view key);

/// The setting as words of a command line. A switch that says what holds anyway has none. Pure: any thread.
[[nodiscard]] std::vector<std::string> WordsOf(const Key& key, std::span<const Value> values);

}  // namespace trainyard::configuration
