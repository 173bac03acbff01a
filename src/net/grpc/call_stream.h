#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net/grpc/call.h"
#include "net/grpc/call_head.h"
#include "net/grpc/message_reader.h"

namespace trainyard::grpc {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// The server sends this on a stream: fields, then a body, then more fields. Without a body the first fields
/// end it.
struct StreamAnswer {
  Fields fields;
  std::string body;
  Fields trailers;
};

/// The answer to a call, and that to a request which is no call. `with_body` is false for HEAD. Pure.
[[nodiscard]] StreamAnswer AnswerOf(const Reply& reply);
[[nodiscard]] StreamAnswer AnswerOf(const CallRefusal& refusal, bool with_body);

/// One stream of a connection: the request as it arrives, its handler, and the answer as it is sent. Loop
/// thread only.
///
///   head --> message --> handled --> answered --> closed; or answered, or closed, from any of them
struct CallStream {
  CallStream(const boost::asio::any_io_executor& executor, std::int32_t used_id, std::size_t header_bytes_max,
             std::size_t message_bytes_max)
      : id(used_id), head(header_bytes_max), reader(message_bytes_max), timer(executor) {}

  /// Ends the handler at its current wait; no effect if it does not run.
  void CancelHandler();
  /// Sets the answer; at most once.
  void SetAnswer(StreamAnswer used);
  /// Moves the next bytes of the body into `buffer` and returns how many.
  std::size_t TakeBody(std::span<std::uint8_t> buffer);
  [[nodiscard]] bool is_body_taken() const noexcept { return body_begin == answer.body.size(); }

  const std::int32_t id;
  CallHead head;
  MessageReader reader;
  UnaryCall call;
  std::size_t held_bytes = 0;  ///< of the call's message, while the handler runs
  boost::asio::steady_timer
      timer;  ///< of what is waited for: the message, the handler, or the answer's reader
  boost::asio::cancellation_signal cancel;
  StreamAnswer answer;
  std::size_t body_begin = 0;  ///< of what has not been taken
  bool in_ended = false;       ///< the request is complete
  bool is_handled = false;
  bool was_cancelled = false;
  bool is_answered = false;
};

}  // namespace trainyard::grpc
