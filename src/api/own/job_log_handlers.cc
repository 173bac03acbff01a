#include "api/own/own_handlers.h"

#include <algorithm>
#include <array>
#include <boost/asio/thread_pool.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/logging/logging_handlers.h"
#include "api/messages.h"
#include "api/ml/job_request.h"
#include "api/own/job_log_request.h"
#include "api/system_parameters.h"
#include "base/async/on_pool.h"
#include "base/wire/json.h"
#include "base/wire/time.h"
#include "control/job_service.h"
#include "control/run/service_log.h"
#include "net/http/text.h"
#include "stores/logs/log_lines.h"

namespace trainyard::api {

namespace {

using logging::v2::LogEntry;

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
    auto print = [&](logs::JobChunks& chunks) { return logs::PrintLines(chunks, pieces); };
    TY_CO_TRY(logs::Piece piece, co_await download->logs->lines.Scan(print));
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
  auto read = [&](logs::JobChunks& chunks) { return logs::ReadWindow(chunks, query); };
  TY_CO_TRY(control::v1::LogWindow window, co_await logs.lines.Read(read));
  co_return co_await Printed(logs.printers, request, std::move(window));
}

awaitable<Result<Response>> SearchJobLog(JobLogs& logs, Request& request) {
  TY_CO_TRY(logs::SearchQuery query, ReadSearchQuery(request));
  TY_CO_TRY(query.job_uid, co_await LogOf(logs, request));
  auto search = [&](logs::JobChunks& chunks) { return logs::SearchLines(chunks, query); };
  TY_CO_TRY(control::v1::LogMatches matches, co_await logs.lines.Scan(search));
  co_return co_await Printed(logs.printers, request, std::move(matches));
}

awaitable<Result<Response>> SummarizeJobLog(JobLogs& logs, Request& request) {
  TY_CO_TRY(const int parts, ReadSummaryParts(request));
  TY_CO_TRY(const std::int64_t uid, co_await LogOf(logs, request));
  auto summarize = [&](logs::JobChunks& chunks) { return logs::SummarizeLines(chunks, uid, parts); };
  TY_CO_TRY(control::v1::LogSummary summary, co_await logs.lines.Scan(summarize));
  co_return co_await Printed(logs.printers, request, std::move(summary));
}

awaitable<Result<Response>> DownloadJobLog(JobLogs& logs, Request& request) {
  auto download = std::make_shared<Download>(logs.shared_from_this());
  TY_CO_TRY(download->pieces, ReadDownloadQuery(request));
  TY_CO_TRY(download->pieces.job_uid, co_await LogOf(logs, request));
  auto total = [&](logs::JobChunks& chunks) { return chunks.Total(download->pieces.job_uid); };
  TY_CO_TRY(download->pieces.end, co_await logs.lines.Read(total));
  const bool is_text = download->pieces.form == logs::DownloadForm::kText;
  Response response;
  SetAttachment(is_text ? "text/plain; charset=utf-8" : "application/jsonl",
                request.Parameter("job") + (is_text ? ".log" : ".jsonl"), response.headers);
  response.body = http::StreamBody{.next = [download] { return NextPart(download); }};
  co_return response;
}

namespace {

/// A line's number; nothing if the parameter is absent.
Result<std::optional<std::int64_t>> ReadLine(const Request& request, std::string_view name) {
  if (!request.HasQuery(name)) return std::nullopt;
  const std::optional<std::uint64_t> number = http::ParseDecimal(request.Query(name));
  if (!number || *number > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return std::unexpected(InvalidArgument(name, "Must be the number of a line: 0 or more"));
  }
  return static_cast<std::int64_t>(*number);
}

/// @param count_max  the limit to which a larger number is reduced
Result<int> ReadCount(const Request& request, std::string_view name, int otherwise, int count_max) {
  if (!request.HasQuery(name)) return otherwise;
  const std::optional<std::uint64_t> number = http::ParseDecimal(request.Query(name));
  if (!number || *number == 0)
    return std::unexpected(InvalidArgument(name, "Must be a number of at least 1"));
  return static_cast<int>(std::min<std::uint64_t>(*number, static_cast<std::uint64_t>(count_max)));
}

Result<bool> ReadFlag(const Request& request, std::string_view name) {
  const std::string_view text = request.Query(name);
  if (text == "true") return true;
  if (!request.HasQuery(name) || text == "false") return false;
  return std::unexpected(InvalidArgument(name, "Must be true or false"));
}

Result<logs::LineFilter> ReadFilter(const Request& request) {
  logs::LineFilter filter{.replica = std::string(request.Query("replica")),
                          .trial_id = std::string(request.Query("trial"))};
  const std::string_view name = request.Query("severity");
  if (!name.empty() && !LogEntry::Severity_Parse(std::string(name), &filter.severity_min)) {
    return std::unexpected(InvalidArgument("severity",
                                           "Must be one of DEFAULT, DEBUG, INFO, NOTICE, WARNING, ERROR, "
                                           "CRITICAL, ALERT and EMERGENCY"));
  }
  return filter;
}

Status CheckOnePlace(const Request& request) {
  constexpr std::array<std::string_view, 4> kPlaces{"first", "before", "time", "last"};
  std::string_view seen;
  for (const std::string_view place : kPlaces) {
    if (!request.HasQuery(place)) continue;
    if (!seen.empty()) {
      return std::unexpected(InvalidArgument(
          place, "This cannot be combined with " + std::string(seen) + ": a window has only one start"));
    }
    seen = place;
  }
  return {};
}

Result<logs::WindowPlace> ReadPlace(const Request& request) {
  TY_RETURN_IF_ERROR(CheckOnePlace(request));
  TY_TRY(const std::optional<std::int64_t> first, ReadLine(request, "first"));
  TY_TRY(const std::optional<std::int64_t> before, ReadLine(request, "before"));
  TY_TRY(const bool last, ReadFlag(request, "last"));
  if (request.HasQuery("time")) {
    const Result<SysTime> time = wire::ParseTime(request.Query("time"));
    if (!time) return std::unexpected(InvalidArgument("time", time.error().message));
    return logs::FromTime{*time};
  }
  if (before) return logs::BeforeLine{*before};
  if (last) return logs::AtEnd{};
  return logs::FromLine{first.value_or(0)};
}

}  // namespace

Result<logs::WindowQuery> ReadWindowQuery(const Request& request) {
  logs::WindowQuery query;
  TY_TRY(query.place, ReadPlace(request));
  TY_TRY(query.count, ReadCount(request, "count", logs::kWindowLinesDefault, logs::kWindowLinesMax));
  TY_TRY(query.whole, ReadFlag(request, "whole"));
  TY_TRY(query.filter, ReadFilter(request));
  return query;
}

Result<logs::SearchQuery> ReadSearchQuery(const Request& request) {
  logs::SearchQuery query{.text = std::string(request.Query("query"))};
  TY_TRY(query.regex, ReadFlag(request, "regex"));
  TY_TRY(query.match_case, ReadFlag(request, "matchCase"));
  TY_TRY(query.from, ReadLine(request, "from"));
  TY_TRY(query.backward, ReadFlag(request, "backward"));
  TY_TRY(query.count, ReadCount(request, "count", logs::kMatchesDefault, logs::kMatchesMax));
  TY_TRY(query.filter, ReadFilter(request));
  return query;
}

Result<int> ReadSummaryParts(const Request& request) {
  return ReadCount(request, "buckets", logs::kSummaryPartsDefault, logs::kSummaryPartsMax);
}

Result<logs::PieceQuery> ReadDownloadQuery(const Request& request) {
  logs::PieceQuery query;
  TY_TRY(query.filter, ReadFilter(request));
  const std::string_view format = request.Query("format");
  if (format == "json") query.form = logs::DownloadForm::kJson;
  if (format.empty() || format == "text" || format == "json") return query;
  return std::unexpected(InvalidArgument("format", "Must be text or json"));
}

}  // namespace trainyard::api
