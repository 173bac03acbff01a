#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/wire/yaml_value.h"
#include "cli/gcloud/json_value.h"

/// YAML as gcloud reads and prints it. Pure: any thread.
namespace trainyard::cli {

// Reading is the server's, too.
using wire::ParseYaml;
using wire::ResolvePlainScalar;

/// YAML as gcloud prints it, byte for byte: members sorted, strings quoted where YAML 1.2 would read
/// something else, folded after column 80, several lines as a literal block, numbers with 6 significant
/// digits. Ends with a newline. Source: gcloud's yaml printer (ruamel.yaml, safe, block style), recorded in
/// tests/golden/cli.
[[nodiscard]] std::string PrintYaml(const Json& value);

/// A JSON number as gcloud shows it: "0.123457", "1e+12", "40".
[[nodiscard]] std::string PrintNumber(const std::string& text);

/// The position of a scalar: the column of its first character and the indentation of its following lines.
struct YamlPlace {
  std::size_t column = 0;
  std::size_t indent = 2;
  bool is_key = false;  ///< keys stay on one line
};

/// A string as a YAML scalar: plain, 'single', "double" or a literal block, without a newline at the end.
/// Source: the emitter that PyYAML and ruamel.yaml share.
[[nodiscard]] std::string PrintYamlString(std::string_view text, YamlPlace place);

}  // namespace trainyard::cli
