#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {

/// What --format asks for.
struct OutputFormat {
  enum class Kind { kDefault, kJson, kYaml, kValue, kNone };
  Kind kind = Kind::kDefault;
  std::vector<std::string> fields;  ///< of value(...): paths such as "trainingInput.args[0]"
};

/// "json", "yaml", "none", "value(jobId,state)". kInvalidArgument lists the formats. Pure: any thread.
[[nodiscard]] Result<OutputFormat> ParseOutputFormat(const std::optional<std::string>& flag);

/// One field as value(...) prints it: lists joined by ';', mappings as "a=1;b=2", empty if the field is
/// absent.
[[nodiscard]] std::string FieldText(const Json& value, std::string_view path);

/// One resource with its newline: YAML for kDefault.
[[nodiscard]] std::string PrintResource(const Json& resource, const OutputFormat& format);

/// A list in a format that is not the default (which is the command's own table).
[[nodiscard]] std::string PrintResources(const std::vector<Json>& resources, const OutputFormat& format);

/// Formats an RFC 3339 time in this machine's zone by a strftime format. Text that is not a time is returned
/// unchanged.
[[nodiscard]] std::string LocalTime(std::string_view rfc3339, const char* format);

inline constexpr const char* kDateFormat = "%Y-%m-%dT%H:%M:%S";  ///< in tables and in the output of submit
inline constexpr const char* kLogTimeFormat = "%Y-%m-%d %H:%M:%S %z";  ///< in log lines

}  // namespace trainyard::cli
