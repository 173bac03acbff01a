#include "api/logging_handlers.h"

#include <utility>

#include "wire/json.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;

constexpr std::size_t kListBytesMax = 256 << 10;  // a filter has at most 20,000 characters

awaitable<Result<Response>> List(logs::LogStore& logs, Request& request) {
  TY_CO_TRY(const std::string text, co_await request.body->ReadAll(kListBytesMax));
  logging::v2::ListLogEntriesRequest query;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, query));
  TY_CO_TRY(logs::LogPage page, co_await logs.List(std::move(query)));
  logging::v2::ListLogEntriesResponse answer;
  answer.mutable_entries()->Reserve(static_cast<int>(page.entries.size()));
  for (logging::v2::LogEntry& entry : page.entries) *answer.add_entries() = std::move(entry);
  answer.set_next_page_token(std::move(page.next_page_token));
  co_return Response::Json(wire::PrintJson(answer));
}

}  // namespace

void AddLoggingRoutes(http::Router& router, logs::LogStore& logs) {
  router.Add(http::Method::kPost, "/v2/entries:list",
             [&logs](Request& request) { return List(logs, request); });
}

}  // namespace trainyard::api
