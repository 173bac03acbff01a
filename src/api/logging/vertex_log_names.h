#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/vertex/log_names.h"

namespace trainyard::control {
class JobService;
}  // namespace trainyard::control

/// Log queries of clients of Vertex AI: by the number of a job. Source: spec vertex.md section 8.
namespace trainyard::api {

/// The id of the project's job that was created by ml v1 and has this number in Vertex AI; kNotFound. Empty:
/// no number is known. Loop thread.
using MlJobOfNumber =
    std::function<boost::asio::awaitable<Result<std::string>>(std::string project, std::int64_t number)>;

/// Looks the numbers up among these jobs, which outlive it.
[[nodiscard]] MlJobOfNumber MlJobsOf(control::JobService& jobs);

/// A query that has names of Vertex AI.
struct VertexLogNames {
  std::optional<std::string> filter;      ///< in the names of ml v1; absent: the query's filter is
  std::vector<vertex::NumberedJob> jobs;  ///< that it names by their numbers
};

/// Numbers of jobs of ml v1 that one filter may have: each is looked up in each project.
inline constexpr std::ptrdiff_t kMlNumbersMax = 10;

/// The names in a filter on the logs of these projects. kInvalidArgument: more than kMlNumbersMax. Errors of
/// the store. Loop thread.
boost::asio::awaitable<Result<VertexLogNames>> FindVertexNames(MlJobOfNumber ml_job_of, std::string filter,
                                                               std::vector<std::string> projects);

/// A TailLogEntriesResponse as JSON, with its entries under the names of Vertex AI. Pure: any thread.
[[nodiscard]] std::string TailInVertexNames(const std::string& response,
                                            const std::vector<vertex::NumberedJob>& jobs);

}  // namespace trainyard::api
