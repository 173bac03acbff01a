#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "rules/vertex/findings.h"

/// Errors and remarks about a custom job's spec, for requests that contain such a spec under another name.
/// Pure: any thread.
namespace trainyard::vertex {

/// Returns the field's name in the request: "trial_job_spec.network" for "job_spec.network".
using Rename = std::function<std::string(std::string_view field)>;

/// Adds each violation of the error under its new name; one without violations is added as a whole.
void AddRenamed(const Error& error, const Rename& rename, Findings& findings);

/// The error with new names. One that lists violations is written anew, as Findings::ToError does.
[[nodiscard]] Error Renamed(Error error, const Rename& rename);

/// Renames the first word of each remark, which is a field.
void RenameRemarks(const Rename& rename, std::vector<std::string>& remarks);

}  // namespace trainyard::vertex
