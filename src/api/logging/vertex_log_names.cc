#include "api/logging/vertex_log_names.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <utility>

#include "api/vertex/job_collections.h"
#include "base/wire/json.h"
#include "control/job_service.h"
#include "rules/vertex/custom_job.h"
#include "trainyard/logging/v2/tail.pb.h"

namespace trainyard::api {

namespace {

using control::JobService;
using vertex::NumberedJob;

awaitable<Result<std::string>> MlJobIdOf(JobService& jobs, std::string project, std::int64_t number) {
  TY_CO_TRY(const control::v1::JobRecord record,
            co_await jobs.listing().Find(std::move(project), number - vertex::kMlNumbers));
  // A job that was created by Vertex AI has another number.
  if (NumberOf(record) != number) co_return std::unexpected(NotFound("No job has this number"));
  co_return record.job().job_id();
}

/// Nullopt: none of the projects has it.
awaitable<Result<std::optional<NumberedJob>>> FindMlJob(MlJobOfNumber ml_job_of, std::int64_t number,
                                                        std::vector<std::string> projects) {
  for (const std::string& project : projects) {
    Result<std::string> job_id = co_await ml_job_of(project, number);
    if (job_id) co_return NumberedJob{.number = number, .job_id = *std::move(job_id)};
    if (job_id.error().code != Code::kNotFound) co_return std::unexpected(std::move(job_id).error());
  }
  co_return std::nullopt;
}

}  // namespace

MlJobOfNumber MlJobsOf(JobService& jobs) {
  return [&jobs](std::string project, std::int64_t number) {
    return MlJobIdOf(jobs, std::move(project), number);
  };
}

awaitable<Result<VertexLogNames>> FindVertexNames(MlJobOfNumber ml_job_of, std::string filter,
                                                  std::vector<std::string> projects) {
  VertexLogNames names;
  const std::vector<std::int64_t> numbers = vertex::NumbersIn(filter);
  const auto of_ml_v1 = [](std::int64_t number) { return number >= vertex::kMlNumbers; };
  if (const auto count = std::ranges::count_if(numbers, of_ml_v1); count > kMlNumbersMax)
    co_return std::unexpected(InvalidArgument("filter", "The filter names " + std::to_string(count) +
                                                            " jobs of ml v1 by their numbers. It can name " +
                                                            std::to_string(kMlNumbersMax) +
                                                            "; name others by their ids."));
  for (const std::int64_t number : numbers) {
    if (number < vertex::kMlNumbers) {
      names.jobs.push_back({.number = number, .job_id = vertex::JobIdOf(number)});
    } else if (ml_job_of) {
      TY_CO_TRY(std::optional<NumberedJob> job, co_await FindMlJob(ml_job_of, number, projects));
      if (job) names.jobs.push_back(*std::move(job));
    }
  }
  names.filter = vertex::FilterInMlNames(filter, names.jobs);
  co_return names;
}

std::string TailInVertexNames(const std::string& response, const std::vector<NumberedJob>& jobs) {
  logging::v2::TailLogEntriesResponse entries;
  // wire::ParseJson limits the number of values, and this text is our own.
  if (!google::protobuf::util::JsonStringToMessage(response, &entries).ok()) return response;
  for (logging::v2::LogEntry& entry : *entries.mutable_entries()) vertex::NameForVertex(entry, jobs);
  return wire::PrintJsonCompact(entries);
}

}  // namespace trainyard::api
