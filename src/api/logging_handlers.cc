#include "api/logging_handlers.h"

#include <memory>
#include <utility>

#include "api/log_rights.h"
#include "api/system_parameters.h"
#include "async/on_pool.h"
#include "wire/json.h"

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

awaitable<Result<Response>> List(logs::LogStore& logs, asio::thread_pool& printers, Request& request) {
  TY_CO_TRY(const std::string text, co_await request.body->ReadAll(kListBytesMax));
  logging::v2::ListLogEntriesRequest query;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, query));
  TY_CO_TRY(logs::LogQuery wanted, logs::ParseLogQuery(query));
  TY_CO_RETURN_IF_ERROR(co_await RequireLogs(request, std::move(wanted)));
  TY_CO_TRY(logs::LogPage page, co_await logs.List(std::move(query)));
  // A thousand entries take some 10 ms to print: too long for the loop.
  auto print = [page = std::move(page)]() mutable { return PrintPage(std::move(page)); };
  std::string answer = co_await OnPool(printers, std::move(print));
  co_return Response::Json(std::move(answer));
}

}  // namespace

void AddLoggingRoutes(http::Router& router, logs::LogStore& logs, logs::LogTails& tails, TailTimes times) {
  // Shared: std::function copies its target; the last copy is destroyed with the router.
  auto printers = std::make_shared<asio::thread_pool>(1);
  const MethodForm list{.answer = logging::v2::ListLogEntriesResponse::descriptor(), .parameters = {}};
  router.Add(http::Method::kPost, "/v2/entries:list",
             WithSystemParameters(
                 list, [&logs, printers](Request& request) { return List(logs, *printers, request); }));
  AddTailRoutes(router, tails, times);
}

}  // namespace trainyard::api
