#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainyard/logging/v2/logging.pb.h"

/// Log entries of custom jobs under the names that clients of Vertex AI know: the job's number and its worker
/// pools. Pure: any thread. Source: spec vertex.md section 8.
namespace trainyard::vertex {

/// The filter with the names of ml v1, if it names a job by a custom job's number:
/// `resource.labels.job_id="vertex_N"`, and tasks as "master-replica-0". Nullopt: it names none.
[[nodiscard]] std::optional<std::string> FilterInMlNames(std::string_view filter);

/// Changes the entry's job_id and task_name to those of Vertex AI, if a custom job wrote it.
void NameForVertex(logging::v2::LogEntry& entry);

}  // namespace trainyard::vertex
