#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::cli {

/// Where a scalar is written: the column of its first character and the indentation of its following lines.
struct YamlPlace {
  std::size_t column = 0;
  std::size_t indent = 2;
  bool is_key = false;  ///< keys stay on one line
};

/// A string as a YAML scalar: plain, 'single', "double" or a literal block, without a newline at the end.
/// Pure: any thread. Source: the emitter that PyYAML and ruamel.yaml share.
[[nodiscard]] std::string PrintYamlString(std::string_view text, YamlPlace place);

}  // namespace trainyard::cli
