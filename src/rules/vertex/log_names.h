#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/logging/v2/logging.pb.h"

/// Log entries under the names that clients of Vertex AI know: the job's number and its worker pools. Pure:
/// any thread. Source: spec vertex.md section 8.
namespace trainyard::vertex {

/// The numbers of 19 digits that the filter compares `resource.labels.job_id` with, each once. None if the
/// filter cannot be parsed: wire::ParseLogFilter says what is wrong.
[[nodiscard]] std::vector<std::int64_t> NumbersIn(std::string_view filter);

/// A job and its number in Vertex AI.
struct NumberedJob {
  std::int64_t number = 0;
  std::string job_id;  ///< of ml v1
  friend bool operator==(const NumberedJob&, const NumberedJob&) = default;
};

/// The filter with the names of ml v1: the ids of `jobs` in place of their numbers, and "worker-replica-0" in
/// place of "workerpool1-0". Only values that are compared with these labels change, never other text. A
/// filter that names worker pools and no job is about the jobs of Vertex AI. Nullopt: nothing changes.
[[nodiscard]] std::optional<std::string> FilterInMlNames(std::string_view filter,
                                                         std::span<const NumberedJob> jobs);

/// Changes the entry's job_id and task_name to those of Vertex AI, if one of `jobs` or a job that was created
/// by Vertex AI wrote it.
void NameForVertex(logging::v2::LogEntry& entry, std::span<const NumberedJob> jobs);

}  // namespace trainyard::vertex
