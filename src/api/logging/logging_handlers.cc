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

/// What the lists are made from, and printed by.
struct Lists {
  logs::LogStore& logs;
  audit::AuditSearch* audit;
  asio::thread_pool printers{1};
};

awaitable<Result<logs::LogPage>> Find(Lists& lists, const Request& request, logs::LogQuery wanted,
                                      logging::v2::ListLogEntriesRequest query) {
  if (lists.audit != nullptr && audit::NamesAuditLogs(wanted.filter)) {
    TY_CO_RETURN_IF_ERROR(co_await RequireAuditLogs(request, wanted));
    co_return co_await lists.audit->List(std::move(wanted));
  }
  TY_CO_RETURN_IF_ERROR(co_await RequireLogs(request, std::move(wanted)));
  co_return co_await lists.logs.List(std::move(query));
}

awaitable<Result<Response>> List(Lists& lists, Request& request) {
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

}  // namespace

void AddLoggingRoutes(http::Router& router, logs::LogStore& logs, logs::LogTails& tails, TailTimes times,
                      audit::AuditSearch* audit) {
  // Shared: std::function copies its target; the last copy is destroyed with the router.
  auto lists = std::make_shared<Lists>(logs, audit);
  const MethodForm list{.answer = logging::v2::ListLogEntriesResponse::descriptor(), .parameters = {}};
  router.Add(http::Method::kPost, "/v2/entries:list",
             WithSystemParameters(list, [lists](Request& request) { return List(*lists, request); }));
  AddTailRoutes(router, tails, times);
}

}  // namespace trainyard::api
