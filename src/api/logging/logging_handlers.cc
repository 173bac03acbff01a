#include "api/logging/logging_handlers.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/messages.h"
#include "base/async/on_pool.h"
#include "base/wire/json.h"
#include "base/wire/time.h"
#include "net/access/caller.h"
#include "rules/iam/resource.h"
#include "rules/vertex/log_names.h"
#include "stores/audit/audit_search.h"

namespace trainyard::api {

namespace {

using logging::v2::TailLogEntriesRequest;

std::string PrintPage(logs::LogPage page) {
  logging::v2::ListLogEntriesResponse answer;
  answer.mutable_entries()->Reserve(static_cast<int>(page.entries.size()));
  for (logging::v2::LogEntry& entry : page.entries) *answer.add_entries() = std::move(entry);
  answer.set_next_page_token(std::move(page.next_page_token));
  return wire::PrintJson(answer);
}

awaitable<Result<logs::LogPage>> Find(EntryLists& lists, const Request& request, logs::LogQuery wanted,
                                      logging::v2::ListLogEntriesRequest query) {
  if (lists.audit != nullptr && audit::NamesAuditLogs(wanted.filter)) {
    TY_CO_RETURN_IF_ERROR(co_await RequireAuditLogs(request, wanted));
    co_return co_await lists.audit->List(std::move(wanted));
  }
  TY_CO_RETURN_IF_ERROR(co_await RequireLogs(request, std::move(wanted)));
  co_return co_await lists.logs.List(std::move(query));
}

awaitable<Result<Response>> ListEntries(EntryLists& lists, Request& request) {
  TY_CO_TRY(auto query, co_await ReadMessage<logging::v2::ListLogEntriesRequest>(request));
  TY_CO_TRY(logs::LogQuery wanted, logs::ParseLogQuery(query));
  TY_CO_TRY(const VertexLogNames names,
            co_await FindVertexNames(lists.ml_job_of, query.filter(), wanted.projects));
  if (names.filter) {
    query.set_filter(*names.filter);
    TY_CO_TRY(wanted, logs::ParseLogQuery(query));
  }
  TY_CO_TRY(logs::LogPage page, co_await Find(lists, request, std::move(wanted), std::move(query)));
  if (names.filter)
    for (logging::v2::LogEntry& entry : page.entries) vertex::NameForVertex(entry, names.jobs);
  // A thousand entries take some 10 ms to print: too long for the loop.
  auto print = [page = std::move(page)]() mutable { return PrintPage(std::move(page)); };
  std::string answer = co_await OnPool(lists.printers, std::move(print));
  co_return Response::Json(std::move(answer));
}

using enum iam::AuditKind;
using iam::InHandler;

constexpr Route kLoggingRoutes[] = {
    // The body names projects. A caller who may see one job may read that job's log.
    {InHandler("POST /v2/entries:list", "logging.logEntries.list",
               "google.logging.v2.LoggingServiceV2.ListLogEntries", kDataRead),
     kEverywhere, Json<logging::v2::ListLogEntriesResponse>(), kCall<ListEntries>},
    {InHandler("GET /v2/entries:tail", "logging.logEntries.list",
               "google.logging.v2.LoggingServiceV2.TailLogEntries", kDataRead),
     kEverywhere, Stream("resourceNames filter bufferWindow cursor"), kCall<GetTail>},
    {InHandler("POST /v2/entries:tail", "logging.logEntries.list",
               "google.logging.v2.LoggingServiceV2.TailLogEntries", kDataRead),
     kEverywhere, Stream("cursor"), kCall<PostTail>},
};

}  // namespace

std::span<const Route> LoggingRoutes() { return kLoggingRoutes; }

namespace {

constexpr std::string_view kFallenBehind = ": the client is slow; continuing from the store\n";

Result<TailLogEntriesRequest> ReadQuery(const Request& request) {
  TailLogEntriesRequest tail;
  for (const auto& [name, value] : request.query) {
    if (name == "resourceNames") {
      tail.add_resource_names(value);
    } else if (name == "filter") {
      tail.set_filter(value);
    } else if (name == "bufferWindow") {
      const Result<std::chrono::nanoseconds> window = wire::ParseDuration(value);
      if (!window) return std::unexpected(InvalidArgument("buffer_window", window.error().message));
      *tail.mutable_buffer_window() = wire::ToProto(*window);
    }
  }
  return tail;
}

std::string CursorOf(const Request& request) {
  const std::string_view last = request.headers.Get("Last-Event-ID");
  return std::string(last.empty() ? request.Query("cursor") : last);
}

http::StreamPart Event(const logs::TailBatch& batch, bool& behind) {
  http::StreamPart part;
  std::string& text = part.text;
  // A tail that begins in the past is not a slow client's.
  if (batch.behind && !std::exchange(behind, true)) text += kFallenBehind;
  behind = batch.behind;
  text.append("id: ").append(batch.cursor).append("\ndata: ");
  part.shared = batch.response;
  part.after = "\n\n";
  return part;
}

/// One client's tail.
struct TailClient {
  std::shared_ptr<logs::Tail> tail;
  std::chrono::milliseconds heartbeat{};
  VertexLogNames names;
  std::shared_ptr<boost::asio::thread_pool> printer;
  bool behind = true;
};

awaitable<Result<std::optional<http::StreamPart>>> NextBatch(std::shared_ptr<TailClient> client) {
  TY_CO_TRY(logs::TailBatch batch, co_await client->tail->Next(client->heartbeat));
  if (!batch.response) co_return std::nullopt;
  if (client->names.filter) {
    auto rename = [client, response = batch.response] {
      return TailInVertexNames(*response, client->names.jobs);
    };
    batch.response =
        std::make_shared<const std::string>(co_await OnPool(*client->printer, std::move(rename)));
  }
  co_return Event(batch, client->behind);
}

awaitable<Result<Response>> Follow(const TailSource& source, TailLogEntriesRequest request,
                                   const Request& asked, std::string cursor) {
  TY_CO_TRY(logs::LogQuery wanted, logs::ParseTailQuery(request));
  auto client = std::make_shared<TailClient>();
  client->heartbeat = source.heartbeat;
  client->printer = source.printer;
  TY_CO_TRY(client->names, co_await FindVertexNames(source.ml_job_of, request.filter(), wanted.projects));
  if (client->names.filter) {
    request.set_filter(*client->names.filter);
    TY_CO_TRY(wanted, logs::ParseTailQuery(request));
  }
  TY_CO_RETURN_IF_ERROR(co_await RequireLogs(asked, std::move(wanted)));
  TY_CO_TRY(client->tail, co_await source.tails.Start(std::move(request), std::move(cursor)));
  co_return EventStream([client] { return NextBatch(client); });
}

}  // namespace

awaitable<Result<Response>> GetTail(const TailSource& source, Request& request) {
  TY_CO_TRY(TailLogEntriesRequest tail, ReadQuery(request));
  std::string cursor = CursorOf(request);
  co_return co_await Follow(source, std::move(tail), request, std::move(cursor));
}

awaitable<Result<Response>> PostTail(const TailSource& source, Request& request) {
  TY_CO_TRY(auto tail, co_await ReadMessage<TailLogEntriesRequest>(request));
  std::string cursor = CursorOf(request);
  co_return co_await Follow(source, std::move(tail), request, std::move(cursor));
}

boost::asio::awaitable<Status> RequireLogs(const http::Request& request, logs::LogQuery query) {
  if (request.caller == nullptr) co_return Status();
  for (const std::string& project : query.projects) {
    iam::Resource all = iam::Resource::Project(project);
    const Status may_read_all = co_await access::Require(request, "logging.logEntries.list", std::move(all));
    if (may_read_all) continue;
    if (!query.bounds.job_id) co_return may_read_all;
    iam::Resource job = iam::Resource::Job(project, *query.bounds.job_id);
    const Status may_see_job = co_await access::Require(request, "ml.jobs.get", std::move(job));
    if (!may_see_job) co_return may_read_all;
  }
  co_return Status();
}

boost::asio::awaitable<Status> RequireAuditLogs(const http::Request& request, logs::LogQuery query) {
  for (const std::string& project : query.projects) {
    iam::Resource resource = iam::Resource::Project(project);
    TY_CO_RETURN_IF_ERROR(
        co_await access::Require(request, "logging.privateLogEntries.list", std::move(resource)));
  }
  co_return Status();
}

}  // namespace trainyard::api
