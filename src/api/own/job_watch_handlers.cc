#include <algorithm>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/logging/log_rights.h"
#include "api/own/own_handlers.h"
#include "api/system_parameters.h"
#include "base/async/on_pool.h"
#include "base/wire/error_body.h"
#include "base/wire/json.h"
#include "control/job_service.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using control::JobWatches;
using http::Request;
using http::Response;

constexpr int kGone = 410;
// How long clients that reconnect by themselves (EventSource) wait, in milliseconds.
constexpr std::string_view kGreeting = "retry: 1000\n\n";
constexpr std::string_view kHeartbeat = ":\n\n";

JobWatches::Query QueryOf(const Request& request) {
  const std::string_view last = request.headers.Get("Last-Event-ID");
  JobWatches::Query query{.project = request.Parameter("project"),
                          .filter = std::string(request.Query("filter")),
                          .resume_token = std::string(last.empty() ? request.Query("resumeToken") : last),
                          .logs_of = {}};
  for (const auto& [name, value] : request.query)
    if (name == "logsOf") query.logs_of.push_back(value);
  return query;
}

/// A log's length is information about its contents.
awaitable<Status> RequireTheirLogs(const Request& request, const JobWatches::Query& query) {
  for (std::size_t i = 0; i < std::min(query.logs_of.size(), JobWatches::kLogsMax); ++i) {
    logs::LogQuery wanted;
    wanted.projects = {query.project};
    wanted.bounds.job_id = query.logs_of[i];
    TY_CO_RETURN_IF_ERROR(co_await RequireLogs(request, std::move(wanted)));
  }
  co_return Status();
}

/// One client's events.
struct Events {
  std::shared_ptr<boost::asio::thread_pool> printer;
  std::shared_ptr<control::JobWatch> watch;
  std::chrono::milliseconds heartbeat{};
  bool greeted = false;
  std::optional<Error> failure;
};

awaitable<Result<http::StreamPart>> NextEvent(std::shared_ptr<Events> events) {
  if (!std::exchange(events->greeted, true)) co_return http::StreamPart(std::string(kGreeting));
  if (events->failure) co_return std::unexpected(*events->failure);
  Result<std::optional<control::v1::JobChanges>> changes = co_await events->watch->Next(events->heartbeat);
  if (!changes) {
    events->failure = changes.error();
    std::string status = wire::PrintErrorBody(changes.error());
    std::erase(status, '\n');
    co_return http::StreamPart("event: error\ndata: " + status + "\n\n");
  }
  if (!*changes) co_return http::StreamPart(std::string(kHeartbeat));
  auto print = [told = std::make_shared<const control::v1::JobChanges>(**std::move(changes))] {
    return "id: " + told->resume_token() + "\ndata: " + wire::PrintJsonCompact(*told) + "\n\n";
  };
  std::string event = co_await OnPool(*events->printer, std::move(print));
  co_return http::StreamPart(std::move(event));
}

bool IsListAgain(const Error& error) { return error.info && error.info->reason == JobWatches::kListAgain; }

}  // namespace

awaitable<Result<Response>> WatchJobs(JobWatchSource& source, Request& request) {
  JobWatches::Query query = QueryOf(request);
  TY_CO_RETURN_IF_ERROR(co_await RequireTheirLogs(request, query));
  auto events = std::make_shared<Events>();
  events->heartbeat = source.heartbeat;
  events->printer = source.printer;
  Result<std::shared_ptr<control::JobWatch>> watch = co_await source.jobs.watches().Start(std::move(query));
  if (!watch && IsListAgain(watch.error()))
    co_return Response::Json(wire::PrintErrorBody(watch.error(), kGone), kGone);
  if (!watch) co_return std::unexpected(std::move(watch).error());
  events->watch = *std::move(watch);
  Response response;
  response.headers.Set("Content-Type", "text/event-stream");
  response.headers.Set("Cache-Control", "no-cache");
  response.body = http::StreamBody{.next = [events] { return NextEvent(events); }};
  co_return response;
}

}  // namespace trainyard::api
