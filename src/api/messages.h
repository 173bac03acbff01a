#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/async/on_pool.h"
#include "base/result.h"
#include "base/wire/json.h"
#include "net/http/message.h"

/// Messages as the bodies of requests and answers. Loop thread.
namespace trainyard::api {

inline constexpr std::size_t kBodyBytesMax = 256 << 10;  ///< policies: "a few 10s of KB" in Google's service
inline constexpr std::size_t kSmallBodyBytesMax = 64 << 10;
inline constexpr std::size_t kJobBytesMax = 1 << 20;

/// The request's body as a message; an empty body is an empty message. `root`: what errors call the message,
/// if it is a resource.
template <class Message>
[[nodiscard]] boost::asio::awaitable<Result<Message>> ReadMessage(http::Request& request,
                                                                  std::size_t bytes_max = kBodyBytesMax,
                                                                  std::string_view root = {}) {
  TY_CO_TRY(const std::string text, co_await request.body->ReadAll(bytes_max));
  Message message;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, message, root));
  co_return message;
}

/// A body without those of its members that Google's methods name in their paths ("name", "parent",
/// "resource", "trialName"), unless the message has such a field. A text that is no object is unchanged.
/// Pure: any thread.
[[nodiscard]] std::string WithoutPathFields(std::string text, const google::protobuf::Descriptor& type);

/// Like ReadMessage, for a method whose request is its path and its whole body (google.api.http, `body:
/// "*"`). Some clients repeat the path's fields in the body; the path counts, as in Google's service.
template <class Message>
[[nodiscard]] boost::asio::awaitable<Result<Message>> ReadRequest(http::Request& request,
                                                                  std::size_t bytes_max = kBodyBytesMax) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(bytes_max));
  Message message;
  text = WithoutPathFields(std::move(text), *Message::descriptor());
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, message));
  co_return message;
}

/// The message as JSON.
template <class Message>
[[nodiscard]] Result<http::Response> Answer(const Result<Message>& message) {
  if (!message) return std::unexpected(message.error());
  return http::Response::Json(wire::PrintJson(*message));
}
/// An empty object.
[[nodiscard]] Result<http::Response> Answer(const Status& done);
/// The message as JSON, for answers with secrets: it must not be cached (RFC 6749 section 5.1).
[[nodiscard]] http::Response SecretAnswer(const google::protobuf::Message& message);
/// Text that is JSON already.
[[nodiscard]] Result<http::Response> Answer(Result<std::string> json);

// Long answers, printed off the loop: a thousand rows take some 10 ms to print, and as long to compress.

/// The JSON, compressed on `pool` if it is long, the client accepts that, and no system parameter (`fields`)
/// still has to change it.
[[nodiscard]] boost::asio::awaitable<http::Response> Compressed(boost::asio::thread_pool& pool,
                                                                const http::Request& request,
                                                                std::string json);

/// The message as compact JSON. `pool` and `request` outlive the call.
template <class Message>
[[nodiscard]] boost::asio::awaitable<http::Response> Printed(boost::asio::thread_pool& pool,
                                                             const http::Request& request, Message message) {
  const auto shared = std::make_shared<const Message>(std::move(message));
  auto print = [shared] { return wire::PrintJsonCompact(*shared) + "\n"; };
  std::string json = co_await OnPool(pool, std::move(print));
  co_return co_await Compressed(pool, request, std::move(json));
}

/// Waits for the next event of a stream. Nothing: none has come for a while. An error ends the stream.
using NextEvent = std::function<boost::asio::awaitable<Result<std::optional<http::StreamPart>>>()>;
/// Server-sent events, with a comment instead of an event where there is none, so that no proxy closes the
/// connection. Before an error ends the stream, an event "error" with a google.rpc.Status is sent. Source:
/// HTML standard, "Server-sent events".
[[nodiscard]] http::Response EventStream(NextEvent next);

}  // namespace trainyard::api
