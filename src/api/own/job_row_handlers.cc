#include "api/own/own_handlers.h"

#include <boost/asio/thread_pool.hpp>
#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "api/ml/job_name_of.h"
#include "api/printed.h"
#include "api/system_parameters.h"
#include "control/job_service.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using control::JobListQuery;
using control::JobService;
using control::JobTables;
using http::Request;
using http::Response;

/// A number of an event; 0 if it is not there.
Result<std::int64_t> SeqOf(const Request& request) {
  const std::string_view text = request.Query("afterSeq");
  std::int64_t seq = 0;
  if (text.empty()) return seq;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
  if (error == std::errc() && end == text.data() + text.size() && seq >= 0) return seq;
  return std::unexpected(InvalidArgument("after_seq", "It must be a whole number that is not negative"));
}

}  // namespace

awaitable<Result<Response>> ListJobRows(JobTablesPrinter& rows, Request& request) {
  TY_CO_TRY(const int page_size, QueryNumber(request, "pageSize", "page_size"));
  JobListQuery query{.project = request.Parameter("project"),
                     .page_size = page_size,
                     .page_token = std::string(request.Query("pageToken")),
                     .filter = std::string(request.Query("filter"))};
  TY_CO_TRY(control::v1::JobRows page, co_await rows.jobs.tables().List(std::move(query)));
  co_return co_await Printed(rows.printer, request, std::move(page));
}

awaitable<Result<Response>> SummarizeJobs(JobTablesPrinter& rows, Request& request) {
  std::string filter(request.Query("filter"));
  TY_CO_TRY(control::v1::JobSummary summary,
            co_await rows.jobs.tables().Summarize(request.Parameter("project"), std::move(filter)));
  co_return co_await Printed(rows.printer, request, std::move(summary));
}

awaitable<Result<Response>> GetJobTimeline(JobTablesPrinter& rows, Request& request) {
  TY_CO_TRY(const std::int64_t after_seq, SeqOf(request));
  JobTables::TimelineQuery query{
      .job = JobNameOf(request), .after_seq = after_seq, .trial_id = std::string(request.Query("trial"))};
  TY_CO_TRY(control::v1::JobTimeline timeline, co_await rows.jobs.tables().Timeline(std::move(query)));
  co_return co_await Printed(rows.printer, request, std::move(timeline));
}

}  // namespace trainyard::api
