#pragma once

#include "base/result.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {

/// Gives the values of a configuration file the form that the API's JSON has, where the API knows the field:
/// whole numbers of 64 bits become strings, a single value of a list becomes a list, null is left out. What
/// it does not know (fields, enum values) stays as it is: the server judges. kInvalidArgument with the
/// field's path where YAML read a number or yes/no and the field is text: `runtimeVersion: 2.1` would
/// otherwise arrive as another version (2.10 as 2.1). Pure: any thread. Source: gcloud's DictToMessage, which
/// stops at the same places.
[[nodiscard]] Result<Json> FitJobFields(const Json& job);

}  // namespace trainyard::cli
