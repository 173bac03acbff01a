#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/configuration/key.h"

namespace trainyard::configuration {

/// The effective value of a key.
struct Effective {
  Key key;
  std::vector<Value> values;
  std::string source;  ///< "default", "flag", "environment: TRAINYARD_DATA", "/etc/trainyard/config.yaml:12"
  /// Whether it has a value at all; an empty list is one.
  [[nodiscard]] bool is_set() const { return key.kind == Key::Kind::kList || !values.empty(); }
};

/// Prints the settings as a configuration file with the same effect, with the source of each as a comment. A
/// key without a value is commented out. Pure: any thread.
[[nodiscard]] std::string PrintEffective(std::span<const Effective> settings);

/// "KEY: VALUE\n", or a list on several lines; `comment` is put after the first. Pure: any thread.
[[nodiscard]] std::string PrintSetting(const Key& key, std::span<const Value> values,
                                       std::string_view comment);

}  // namespace trainyard::configuration
