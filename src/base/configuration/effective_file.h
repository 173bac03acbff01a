#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/configuration/key.h"

namespace trainyard::configuration {

/// What holds for a key.
struct Effective {
  Key key;
  std::vector<Value> values;
  std::string source;  ///< "default", "flag", "environment: TRAINYARD_DATA", "/etc/trainyard/config.yaml:12"
  /// Whether it has a value at all; an empty list is one.
  [[nodiscard]] bool is_set() const { return key.kind == Key::Kind::kList || !values.empty(); }
};

/// The settings as a file that says the same, with the source of each as a comment. A key without a value is
/// a comment. Pure: any thread.
[[nodiscard]] std::string PrintEffective(std::span<const Effective> settings);

/// "KEY: VALUE\n", or a list on several lines; `comment` is put after the first. Pure: any thread.
[[nodiscard]] std::string PrintSetting(const Key& key, std::span<const Value> values,
                                       std::string_view comment);

/// A file to edit: `preamble` (lines of a comment), then every key with what it does, the form of its value
/// and its default, as a comment. Keys in `active` stand without the comment sign, with that value. Pure: any
/// thread.
[[nodiscard]] std::string PrintCommented(std::string_view preamble, std::span<const Key> keys,
                                         std::span<const Setting> active);

}  // namespace trainyard::configuration
