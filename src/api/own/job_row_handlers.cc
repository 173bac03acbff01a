#include "api/own/job_row_handlers.h"

#include <boost/asio/thread_pool.hpp>
#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "api/ml/job_name_of.h"
#include "api/printed.h"
#include "api/system_parameters.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using control::JobListQuery;
using control::JobService;
using control::JobTables;
using http::Request;
using http::Response;

struct Rows {
  JobService& jobs;
  boost::asio::thread_pool printer{1};
};

constexpr std::string_view kJobs = "/trainyard/v1/projects/{project}/jobs";

/// A number of an event; 0 if it is not there.
Result<std::int64_t> SeqOf(const Request& request) {
  const std::string_view text = request.Query("afterSeq");
  std::int64_t seq = 0;
  if (text.empty()) return seq;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
  if (error == std::errc() && end == text.data() + text.size() && seq >= 0) return seq;
  return std::unexpected(InvalidArgument("after_seq", "It must be a whole number that is not negative"));
}

awaitable<Result<Response>> List(Rows& rows, Request& request) {
  TY_CO_TRY(const int page_size, QueryNumber(request, "pageSize", "page_size"));
  JobListQuery query{.project = request.Parameter("project"),
                     .page_size = page_size,
                     .page_token = std::string(request.Query("pageToken")),
                     .filter = std::string(request.Query("filter"))};
  TY_CO_TRY(control::v1::JobRows page, co_await rows.jobs.tables().List(std::move(query)));
  co_return co_await Printed(rows.printer, request, std::move(page));
}

awaitable<Result<Response>> Summarize(Rows& rows, Request& request) {
  std::string filter(request.Query("filter"));
  TY_CO_TRY(control::v1::JobSummary summary,
            co_await rows.jobs.tables().Summarize(request.Parameter("project"), std::move(filter)));
  co_return co_await Printed(rows.printer, request, std::move(summary));
}

awaitable<Result<Response>> Timeline(Rows& rows, Request& request) {
  TY_CO_TRY(const std::int64_t after_seq, SeqOf(request));
  JobTables::TimelineQuery query{
      .job = JobNameOf(request), .after_seq = after_seq, .trial_id = std::string(request.Query("trial"))};
  TY_CO_TRY(control::v1::JobTimeline timeline, co_await rows.jobs.tables().Timeline(std::move(query)));
  co_return co_await Printed(rows.printer, request, std::move(timeline));
}

}  // namespace

void AddJobRowRoutes(http::Router& router, JobService& jobs) {
  using http::Method;
  const MethodForm rows{.answer = control::v1::JobRows::descriptor(),
                        .parameters = {"filter", "pageSize", "pageToken"}};
  const MethodForm summary{.answer = control::v1::JobSummary::descriptor(), .parameters = {"filter"}};
  const MethodForm timeline{.answer = control::v1::JobTimeline::descriptor(),
                            .parameters = {"afterSeq", "trial"}};
  const std::string path(kJobs);
  const auto shared = std::make_shared<Rows>(jobs);  // std::function copies its target
  router.Add(Method::kGet, path,
             WithSystemParameters(rows, [shared](Request& request) { return List(*shared, request); }));
  router.Add(Method::kGet, path + ":summarize", WithSystemParameters(summary, [shared](Request& request) {
               return Summarize(*shared, request);
             }));
  router.Add(Method::kGet, path + "/{job}/events", WithSystemParameters(timeline, [shared](Request& request) {
               return Timeline(*shared, request);
             }));
}

}  // namespace trainyard::api
