#include "api/own/job_log_handlers.h"

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/logging/log_rights.h"
#include "api/ml/attachment.h"
#include "api/ml/job_name_of.h"
#include "api/own/job_log_request.h"
#include "api/printed.h"
#include "api/system_parameters.h"
#include "base/async/on_pool.h"
#include "base/wire/json.h"
#include "control/run/service_log.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;

struct JobLogs {
  JobLogSources sources;
  asio::thread_pool printers{1};
};

awaitable<Result<std::int64_t>> UidOf(control::JobService& jobs, wire::JobName name) {
  TY_CO_TRY(const control::v1::JobRecord job, co_await jobs.Record(std::move(name)));
  co_return control::LogUid(job);
}

/// The log that the request's path names, if who asks may read it.
awaitable<Result<std::int64_t>> LogOf(JobLogs& logs, const Request& request) {
  wire::JobName name = JobNameOf(request);
  logs::LogQuery wanted;
  wanted.projects = {name.project};
  wanted.bounds.job_id = name.job_id;
  TY_CO_RETURN_IF_ERROR(co_await RequireLogs(request, std::move(wanted)));
  co_return co_await logs.sources.uid_of(std::move(name));
}

awaitable<Result<Response>> Read(std::shared_ptr<JobLogs> logs, const Request& request) {
  TY_CO_TRY(logs::WindowQuery query, ReadWindowQuery(request));
  TY_CO_TRY(query.job_uid, co_await LogOf(*logs, request));
  TY_CO_TRY(control::v1::LogWindow window, co_await logs->sources.lines.Read(std::move(query)));
  co_return co_await Printed(logs->printers, request, std::move(window));
}

awaitable<Result<Response>> Search(std::shared_ptr<JobLogs> logs, const Request& request) {
  TY_CO_TRY(logs::SearchQuery query, ReadSearchQuery(request));
  TY_CO_TRY(query.job_uid, co_await LogOf(*logs, request));
  TY_CO_TRY(control::v1::LogMatches matches, co_await logs->sources.lines.Search(std::move(query)));
  co_return co_await Printed(logs->printers, request, std::move(matches));
}

awaitable<Result<Response>> Summarize(std::shared_ptr<JobLogs> logs, const Request& request) {
  TY_CO_TRY(const int parts, ReadSummaryParts(request));
  TY_CO_TRY(const std::int64_t uid, co_await LogOf(*logs, request));
  TY_CO_TRY(control::v1::LogSummary summary, co_await logs->sources.lines.Summarize(uid, parts));
  co_return co_await Printed(logs->printers, request, std::move(summary));
}

/// One download. `pieces.from` is where it has come to.
struct Download {
  std::shared_ptr<JobLogs> logs;
  logs::PieceQuery pieces;
};

/// An empty part is the end, so pieces without a line that matches are passed over.
awaitable<Result<http::StreamPart>> NextPart(std::shared_ptr<Download> download) {
  logs::PieceQuery& pieces = download->pieces;
  while (pieces.from < pieces.end) {
    logs::PieceQuery query = pieces;
    TY_CO_TRY(logs::Piece piece, co_await download->logs->sources.lines.Print(std::move(query)));
    pieces.from = piece.next;
    if (!piece.text.empty()) co_return http::StreamPart(std::move(piece.text));
  }
  co_return http::StreamPart();
}

awaitable<Result<Response>> Send(std::shared_ptr<JobLogs> logs, const Request& request) {
  auto download = std::make_shared<Download>(logs);
  TY_CO_TRY(download->pieces, ReadDownloadQuery(request));
  TY_CO_TRY(download->pieces.job_uid, co_await LogOf(*logs, request));
  TY_CO_TRY(download->pieces.end, co_await logs->sources.lines.Total(download->pieces.job_uid));
  const bool is_text = download->pieces.form == logs::DownloadForm::kText;
  Response response;
  SetAttachment(is_text ? "text/plain; charset=utf-8" : "application/jsonl",
                request.Parameter("job") + (is_text ? ".log" : ".jsonl"), response.headers);
  response.body = http::StreamBody{.next = [download] { return NextPart(download); }};
  co_return response;
}

using Method = awaitable<Result<Response>> (*)(std::shared_ptr<JobLogs> logs, const Request& request);

struct Route {
  std::string_view verb;
  const google::protobuf::Descriptor* answer;
  std::vector<std::string_view> parameters;  ///< besides those of the filter
  Method method;
};

}  // namespace

JobLogSources LogsOf(control::JobService& jobs, logs::LogLines& lines) {
  return {.uid_of = [&jobs](wire::JobName name) { return UidOf(jobs, std::move(name)); }, .lines = lines};
}

void AddJobLogRoutes(http::Router& router, JobLogSources sources) {
  using control::v1::LogMatches;
  using control::v1::LogSummary;
  using control::v1::LogWindow;
  // Shared: std::function copies its target; the last copy is destroyed with the router.
  auto logs = std::make_shared<JobLogs>(std::move(sources));
  const std::vector<Route> routes = {
      {"read",
       LogWindow::descriptor(),
       {"first", "before", "time", "last", "count", "whole", "replica", "severity", "trial"},
       Read},
      {"search",
       LogMatches::descriptor(),
       {"query", "regex", "matchCase", "from", "backward", "count", "replica", "severity", "trial"},
       Search},
      {"summarize", LogSummary::descriptor(), {"buckets"}, Summarize},
      {"download", nullptr, {"format", "replica", "severity", "trial"}, Send},
  };
  for (const Route& route : routes) {
    const MethodForm form{.answer = route.answer, .parameters = route.parameters};
    const std::string path = "/trainyard/v1/projects/{project}/jobs/{job}/log:" + std::string(route.verb);
    auto answer = [logs, method = route.method](Request& request) { return method(logs, request); };
    router.Add(http::Method::kGet, path, WithSystemParameters(form, std::move(answer)));
  }
}

}  // namespace trainyard::api
