#include "api/own/own_handlers.h"

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/logging/log_rights.h"
#include "api/ml/attachment.h"
#include "api/ml/job_request.h"
#include "api/own/job_log_request.h"
#include "api/printed.h"
#include "api/system_parameters.h"
#include "base/async/on_pool.h"
#include "base/wire/json.h"
#include "control/job_service.h"
#include "control/run/service_log.h"
#include "stores/logs/log_lines.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;

awaitable<Result<std::int64_t>> UidOf(control::JobService& jobs, wire::JobName name) {
  TY_CO_TRY(const control::v1::JobRecord job, co_await jobs.Record(std::move(name)));
  co_return control::LogUid(job);
}

/// The log that the request's path names, if the caller may read it.
awaitable<Result<std::int64_t>> LogOf(JobLogs& logs, const Request& request) {
  wire::JobName name = JobNameOf(request);
  logs::LogQuery wanted;
  wanted.projects = {name.project};
  wanted.bounds.job_id = name.job_id;
  TY_CO_RETURN_IF_ERROR(co_await RequireLogs(request, std::move(wanted)));
  co_return co_await logs.uid_of(std::move(name));
}

/// One download. `pieces.from` is its position.
struct Download {
  std::shared_ptr<JobLogs> logs;
  logs::PieceQuery pieces;
};

/// An empty part would mean the end, so pieces without a matching line are skipped.
awaitable<Result<http::StreamPart>> NextPart(std::shared_ptr<Download> download) {
  logs::PieceQuery& pieces = download->pieces;
  while (pieces.from < pieces.end) {
    logs::PieceQuery query = pieces;
    TY_CO_TRY(logs::Piece piece, co_await download->logs->lines.Print(std::move(query)));
    pieces.from = piece.next;
    if (!piece.text.empty()) co_return http::StreamPart(std::move(piece.text));
  }
  co_return http::StreamPart();
}

}  // namespace

std::shared_ptr<JobLogs> LogsOf(control::JobService& jobs, logs::LogLines& lines) {
  return std::make_shared<JobLogs>([&jobs](wire::JobName name) { return UidOf(jobs, std::move(name)); },
                                   lines);
}

awaitable<Result<Response>> ReadJobLog(JobLogs& logs, Request& request) {
  TY_CO_TRY(logs::WindowQuery query, ReadWindowQuery(request));
  TY_CO_TRY(query.job_uid, co_await LogOf(logs, request));
  TY_CO_TRY(control::v1::LogWindow window, co_await logs.lines.Read(std::move(query)));
  co_return co_await Printed(logs.printers, request, std::move(window));
}

awaitable<Result<Response>> SearchJobLog(JobLogs& logs, Request& request) {
  TY_CO_TRY(logs::SearchQuery query, ReadSearchQuery(request));
  TY_CO_TRY(query.job_uid, co_await LogOf(logs, request));
  TY_CO_TRY(control::v1::LogMatches matches, co_await logs.lines.Search(std::move(query)));
  co_return co_await Printed(logs.printers, request, std::move(matches));
}

awaitable<Result<Response>> SummarizeJobLog(JobLogs& logs, Request& request) {
  TY_CO_TRY(const int parts, ReadSummaryParts(request));
  TY_CO_TRY(const std::int64_t uid, co_await LogOf(logs, request));
  TY_CO_TRY(control::v1::LogSummary summary, co_await logs.lines.Summarize(uid, parts));
  co_return co_await Printed(logs.printers, request, std::move(summary));
}

awaitable<Result<Response>> DownloadJobLog(JobLogs& logs, Request& request) {
  auto download = std::make_shared<Download>(logs.shared_from_this());
  TY_CO_TRY(download->pieces, ReadDownloadQuery(request));
  TY_CO_TRY(download->pieces.job_uid, co_await LogOf(logs, request));
  TY_CO_TRY(download->pieces.end, co_await logs.lines.Total(download->pieces.job_uid));
  const bool is_text = download->pieces.form == logs::DownloadForm::kText;
  Response response;
  SetAttachment(is_text ? "text/plain; charset=utf-8" : "application/jsonl",
                request.Parameter("job") + (is_text ? ".log" : ".jsonl"), response.headers);
  response.body = http::StreamBody{.next = [download] { return NextPart(download); }};
  co_return response;
}

}  // namespace trainyard::api
