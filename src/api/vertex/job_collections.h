#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/route.h"
#include "base/result.h"
#include "rules/vertex/custom_job.h"
#include "trainyard/control/v1/record.pb.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace trainyard::control {
class JobService;
}  // namespace trainyard::control

/// The kinds of jobs of Vertex AI: each is a job of this server with a form of its own. They call the same
/// use cases as ml v1. Loop thread only. Source: spec vertex.md.
namespace trainyard::api {

/// The job's id in Vertex AI.
[[nodiscard]] std::int64_t NumberOf(const control::v1::JobRecord& record);

/// One kind of job, and how it is read and shown. Views of static text.
struct JobCollection {
  std::string_view name;                      ///< "customJobs"
  std::string_view type;                      ///< "CustomJob": in errors
  std::string_view permissions;               ///< "aiplatform.customJobs."
  const google::protobuf::Message& resource;  ///< an empty one
  const google::protobuf::Message& page;      ///< an empty answer of the list: resources 1, next_page_token 2
  /// The job for a resource of this kind. Errors as vertex::JobOf. Null: none is created.
  Result<vertex::Translated> (*translate)(const google::protobuf::Message& asked, const std::string& location,
                                          std::int64_t number);
  /// An error about the job with the fields of the resource. Null: none is created.
  Error (*in_its_fields)(const google::protobuf::Message& asked, Error error);
  /// The job as this kind shows it; null: it is of another kind. `now`: the job as ml v1 shows it.
  std::unique_ptr<google::protobuf::Message> (*show)(const control::v1::JobRecord& record,
                                                     const ml::v1::Job& now,
                                                     const std::string& location_name);
};
extern const JobCollection kCustomJobs, kTuningJobs, kTrainingPipelines;
/// The models of pipelines: each is shown from its pipeline's record, with the same number.
extern const JobCollection kModels;

/// The record of the job that the request's project and location have under that number. kNotFound.
///
/// @param number  as the path has it; outlives the call
awaitable<Result<control::v1::JobRecord>> FindIn(const JobCollection& in, control::JobService& jobs,
                                                 const Request& request, std::string_view number);

// The methods of each kind.
awaitable<Result<Response>> CreateIn(const JobCollection& in, control::JobService& jobs, Request& request);
awaitable<Result<Response>> GetIn(const JobCollection& in, control::JobService& jobs, Request& request);
awaitable<Result<Response>> ListIn(const JobCollection& in, control::JobService& jobs, Request& request);
/// Whoever may not cancel all jobs of the project may cancel those that they created.
awaitable<Result<Response>> CancelIn(const JobCollection& in, control::JobService& jobs, Request& request);
/// The answer is an operation that is done.
awaitable<Result<Response>> DeleteIn(const JobCollection& in, control::JobService& jobs, Request& request);

// The same for a table of routes.
template <const JobCollection& kIn>
awaitable<Result<Response>> CreateJobIn(control::JobService& jobs, Request& request) {
  return CreateIn(kIn, jobs, request);
}
template <const JobCollection& kIn>
awaitable<Result<Response>> GetJobIn(control::JobService& jobs, Request& request) {
  return GetIn(kIn, jobs, request);
}
template <const JobCollection& kIn>
awaitable<Result<Response>> ListJobsIn(control::JobService& jobs, Request& request) {
  return ListIn(kIn, jobs, request);
}
template <const JobCollection& kIn>
awaitable<Result<Response>> CancelJobIn(control::JobService& jobs, Request& request) {
  return CancelIn(kIn, jobs, request);
}
template <const JobCollection& kIn>
awaitable<Result<Response>> DeleteJobIn(control::JobService& jobs, Request& request) {
  return DeleteIn(kIn, jobs, request);
}

/// The path's id may name a version, too: "123@1".
Waits<control::JobService> GetModel;
/// Newest first, which is the only order.
Waits<control::JobService> ListModels;

}  // namespace trainyard::api
