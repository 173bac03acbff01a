#include "api/logging/logging_handlers.h"

#include <memory>
#include <utility>

#include "api/logging/log_rights.h"
#include "api/system_parameters.h"
#include "base/async/on_pool.h"
#include "base/wire/json.h"
#include "stores/audit/audit_query.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;

constexpr std::size_t kListBytesMax = 256 << 10;  // a filter has at most 20,000 characters

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
  TY_CO_TRY(const std::string text, co_await request.body->ReadAll(kListBytesMax));
  logging::v2::ListLogEntriesRequest query;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, query));
  TY_CO_TRY(logs::LogQuery wanted, logs::ParseLogQuery(query));
  TY_CO_TRY(logs::LogPage page, co_await Find(lists, request, std::move(wanted), std::move(query)));
  // A thousand entries take some 10 ms to print: too long for the loop.
  auto print = [page = std::move(page)]() mutable { return PrintPage(std::move(page)); };
  std::string answer = co_await OnPool(lists.printers, std::move(print));
  co_return Response::Json(std::move(answer));
}

using enum iam::AuditKind;
using iam::InHandler;

constexpr Route kRows[] = {
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

std::span<const Route> LoggingRoutes() { return kRows; }

}  // namespace trainyard::api
