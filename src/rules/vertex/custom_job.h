#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

/// Custom jobs of Vertex AI as jobs of ml v1 and back. Pure: any thread. Source: spec vertex.md sections 3, 4
/// and 9.
namespace trainyard::vertex {

namespace aip = google::cloud::aiplatform::v1;

/// Numbers have 19 digits. Those from kMlNumbers on are of what came by ml v1: it and the uid there.
inline constexpr std::int64_t kNumberMin = 1'000'000'000'000'000'000;
inline constexpr std::int64_t kMlNumbers = 9'000'000'000'000'000'000;

/// A custom job as the job that this server runs.
struct Translated {
  ml::v1::Job job;
  std::vector<std::string> remarks;  ///< one sentence for each part of the request that has no effect here
};

/// The job for a request to create a custom job. Output fields of `asked` are ignored. Whether this server
/// has the machines, regions, images and runtime versions is for jobs::Validate, whose errors
/// `error_fields.h` translates.
///
/// @param location  the region in the request's path
/// @param number  the custom job's id
/// @return kInvalidArgument with everything that is wrong, as Google writes it ("List of found
///     errors:\t1.Field: job_spec.worker_pool_specs[0].replica_count; Message: ...\t"); `violations` has the
///     same entries.
[[nodiscard]] Result<Translated> JobOf(const aip::CustomJob& asked, const std::string& location,
                                       std::int64_t number);

/// What is wrong with the name of a job, a pipeline or a model; empty: nothing.
[[nodiscard]] std::string WrongDisplayName(const std::string& name);

/// "vertex_7110512376444053982": the ml v1 job id of the custom job with that number.
[[nodiscard]] std::string JobIdOf(std::int64_t number);
/// Inverse of JobIdOf; nullopt for any other id, and for numbers that no custom job has.
[[nodiscard]] std::optional<std::int64_t> NumberOf(std::string_view job_id);

/// The custom job as methods answer it: as it was requested, with the state, times, error and shells of
/// `now`.
///
/// @param now  the job as ml v1 shows it
/// @param name  "projects/P/locations/L/customJobs/N"
[[nodiscard]] aip::CustomJob CustomJobOf(const aip::CustomJob& asked, const ml::v1::Job& now,
                                         std::string name);

/// A custom job that describes a job which was created by ml v1, as far as its fields can. The display name
/// is the job's id if it has none.
[[nodiscard]] aip::CustomJob CustomJobOf(const ml::v1::Job& now, std::string name);

/// QUEUED is JOB_STATE_QUEUED (it waits for resources) and PREPARING is JOB_STATE_PENDING.
[[nodiscard]] aip::JobState StateOf(ml::v1::Job::State state);

}  // namespace trainyard::vertex
