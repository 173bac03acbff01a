#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {

/// A YAML or JSON document as JSON, read by the rules of YAML 1.1 as gcloud does: `yes` is true, 012 is ten,
/// 1:30 is ninety, `<<` merges. Dates stay text. An empty document is null. kInvalidArgument: "line 2, column
/// 3: REASON", also beyond the limits of wire/yaml.h. Pure: any thread.
[[nodiscard]] Result<Json> ParseYaml(std::string_view text);

/// What a plain scalar stands for by YAML 1.1's rules.
[[nodiscard]] Json ResolvePlainScalar(const std::string& text);

}  // namespace trainyard::cli
