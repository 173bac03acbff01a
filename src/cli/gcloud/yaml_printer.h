#pragma once

#include <string>

#include "cli/gcloud/json_value.h"

namespace trainyard::cli {

/// YAML as gcloud prints it, byte for byte: members sorted, strings quoted where YAML 1.2 would read
/// something else, folded behind column 80, several lines as a literal block, numbers with 6 significant
/// digits. Ends with a newline. Pure: any thread. Source: gcloud's yaml printer (ruamel.yaml, safe, block
/// style), recorded in tests/golden/cli.
[[nodiscard]] std::string PrintYaml(const Json& value);

/// A JSON number as gcloud shows it: "0.123457", "1e+12", "40".
[[nodiscard]] std::string PrintNumber(const std::string& text);

}  // namespace trainyard::cli
