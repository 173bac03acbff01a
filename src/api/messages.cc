#include "api/messages.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "api/system_parameters.h"
#include "base/wire/error_body.h"
#include "base/wire/json_tree.h"
#include "net/http/gzip.h"
#include "net/http/text.h"

namespace trainyard::api {

namespace {

constexpr std::size_t kCompressedHereMin = std::size_t{256} << 10;
// How long clients that reconnect by themselves (EventSource) wait, in milliseconds.
constexpr std::string_view kGreeting = "retry: 1000\n\n";
constexpr std::string_view kHeartbeat = ":\n\n";

/// One client's events.
struct Events {
  NextEvent next;
  bool greeted = false;
  std::optional<Error> failure;
};

awaitable<Result<http::StreamPart>> NextPart(std::shared_ptr<Events> events) {
  if (!std::exchange(events->greeted, true)) co_return http::StreamPart(std::string(kGreeting));
  if (events->failure) co_return std::unexpected(*events->failure);
  Result<std::optional<http::StreamPart>> event = co_await events->next();
  if (!event) {
    events->failure = event.error();
    std::string status = wire::PrintErrorBody(event.error());
    std::erase(status, '\n');
    co_return http::StreamPart("event: error\ndata: " + status + "\n\n");
  }
  if (!*event) co_return http::StreamPart(std::string(kHeartbeat));
  co_return **std::move(event);
}

}  // namespace

std::string WithoutPathFields(std::string text, const google::protobuf::Descriptor& type) {
  constexpr std::array<std::string_view, 5> kNames{"name", "parent", "resource", "trialName", "trial_name"};
  const auto is_in_path = [&](const wire::JsonValue& member) {
    return std::ranges::find(kNames, member.name) != kNames.end() &&
           member.kind == wire::JsonValue::Kind::kString && type.FindFieldByName(member.name) == nullptr;
  };
  Result<wire::JsonValue> tree = wire::ParseJsonTree(text, wire::kJsonValuesMax);
  if (!tree || tree->kind != wire::JsonValue::Kind::kObject) return text;
  return std::erase_if(tree->children, is_in_path) == 0 ? std::move(text) : wire::PrintJsonTree(*tree);
}

Result<Response> Answer(const Status& done) {
  if (!done) return std::unexpected(done.error());
  return Response::Json("{}\n");
}

Response SecretAnswer(const google::protobuf::Message& message) {
  Response response = Response::Json(wire::PrintJson(message));
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

Result<Response> Answer(Result<std::string> json) {
  if (!json) return std::unexpected(std::move(json).error());
  return Response::Json(*std::move(json));
}

Response EventStream(NextEvent next) {
  auto events = std::make_shared<Events>(std::move(next));
  Response response;
  response.headers.Set("Content-Type", "text/event-stream");
  response.headers.Set("Cache-Control", "no-cache");
  response.body = http::StreamBody{.next = [events] { return NextPart(events); }};
  return response;
}

awaitable<Response> Compressed(boost::asio::thread_pool& pool, const http::Request& request,
                               std::string json) {
  const bool compresses = json.size() >= kCompressedHereMin && !ShapesAnswer(request) &&
                          http::AcceptsGzip(request.headers.Get("Accept-Encoding"));
  if (!compresses) co_return Response::Json(std::move(json));
  auto compress = [json = std::move(json)] { return http::GzipCompress(json); };
  std::string compressed = co_await OnPool(pool, std::move(compress));
  Response response = Response::Json(std::move(compressed));
  response.headers.Set("Content-Encoding", "gzip");
  response.headers.Set("Vary", "Accept-Encoding");
  co_return response;
}

}  // namespace trainyard::api
