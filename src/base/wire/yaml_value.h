#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/wire/json_tree.h"

/// YAML as gcloud reads it. Pure: any thread.
namespace trainyard::wire {

/// A YAML or JSON document as JSON, read by the rules of YAML 1.1 as gcloud does: `yes` is true, 012 is ten,
/// 1:30 is ninety, `<<` merges. Dates stay text. An empty document is null. kInvalidArgument: "line 2, column
/// 3: REASON", also beyond the limits of base/wire/yaml.h and kYamlTextMax. The maximum of the bytes of all
/// scalars and keys in a document; those behind an alias count each time it is used.
inline constexpr std::size_t kYamlTextMax = std::size_t{4} << 20;
[[nodiscard]] Result<JsonValue> ParseYaml(std::string_view text);

/// The value of a plain scalar by YAML 1.1's rules.
[[nodiscard]] JsonValue ResolvePlainScalar(const std::string& text);

}  // namespace trainyard::wire
