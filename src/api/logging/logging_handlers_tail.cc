#include "api/logging/logging_handlers.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/logging/log_rights.h"
#include "api/system_parameters.h"
#include "base/wire/error_body.h"
#include "base/wire/json.h"
#include "base/wire/time.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;
using logging::v2::TailLogEntriesRequest;

constexpr std::size_t kBodyBytesMax = 256 << 10;  // a filter has at most 20,000 characters
// How long clients that reconnect by themselves (EventSource) wait, in milliseconds.
constexpr std::string_view kGreeting = "retry: 1000\n\n";
constexpr std::string_view kHeartbeat = ":\n\n";
constexpr std::string_view kFallenBehind = ": fallen behind; going on from the store\n";

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

/// One client's events.
struct Events {
  std::shared_ptr<logs::Tail> tail;
  std::chrono::milliseconds heartbeat{};
  bool greeted = false;
  bool behind = true;
  std::optional<Error> failure;
};

awaitable<Result<http::StreamPart>> NextEvent(std::shared_ptr<Events> events) {
  if (!std::exchange(events->greeted, true)) co_return http::StreamPart(std::string(kGreeting));
  if (events->failure) co_return std::unexpected(*events->failure);
  Result<logs::TailBatch> batch = co_await events->tail->Next(events->heartbeat);
  if (!batch) {
    events->failure = batch.error();
    std::string status = wire::PrintErrorBody(batch.error());
    std::erase(status, '\n');
    co_return http::StreamPart("event: error\ndata: " + status + "\n\n");
  }
  if (!batch->response) co_return http::StreamPart(std::string(kHeartbeat));
  co_return Event(*batch, events->behind);
}

awaitable<Result<Response>> Follow(const TailSource& source, TailLogEntriesRequest request,
                                   const Request& asked, std::string cursor) {
  TY_CO_TRY(logs::LogQuery wanted, logs::ParseTailQuery(request));
  TY_CO_RETURN_IF_ERROR(co_await RequireLogs(asked, std::move(wanted)));
  auto events = std::make_shared<Events>();
  events->heartbeat = source.heartbeat;
  TY_CO_TRY(events->tail, co_await source.tails.Start(std::move(request), std::move(cursor)));
  Response response;
  response.headers.Set("Content-Type", "text/event-stream");
  response.headers.Set("Cache-Control", "no-cache");
  response.body = http::StreamBody{.next = [events] { return NextEvent(events); }};
  co_return response;
}

}  // namespace

awaitable<Result<Response>> GetTail(const TailSource& source, Request& request) {
  TY_CO_TRY(TailLogEntriesRequest tail, ReadQuery(request));
  std::string cursor = CursorOf(request);
  co_return co_await Follow(source, std::move(tail), request, std::move(cursor));
}

awaitable<Result<Response>> PostTail(const TailSource& source, Request& request) {
  TY_CO_TRY(const std::string text, co_await request.body->ReadAll(kBodyBytesMax));
  TailLogEntriesRequest tail;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, tail));
  std::string cursor = CursorOf(request);
  co_return co_await Follow(source, std::move(tail), request, std::move(cursor));
}

}  // namespace trainyard::api
