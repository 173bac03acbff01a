#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "net/grpc/call_stream.h"

/// nghttp2's server side, as far as unary calls need it.
namespace trainyard::grpc {

/// What the library reports while it reads (nghttp2_session_mem_recv) or writes (nghttp2_session_mem_send).
/// Implementations may submit frames, and must neither read nor write.
class Http2Events {
 public:
  virtual ~Http2Events() = default;
  virtual void OnBegin(std::int32_t id) = 0;  ///< a request's head begins
  virtual void OnField(std::int32_t id, std::string_view name, std::string_view value) = 0;
  virtual void OnHead(std::int32_t id) = 0;  ///< the request's head is complete
  virtual void OnData(std::int32_t id, std::string_view bytes) = 0;
  virtual void OnEnd(std::int32_t id) = 0;  ///< the request is complete
  virtual void OnSettings() = 0;            ///< the client's settings have arrived
  virtual void OnAnswerSent(std::int32_t id) = 0;
  /// `error`: of HTTP/2; 0 if the stream ended well.
  virtual void OnClosed(std::int32_t id, std::uint32_t error) = 0;
  /// The stream; null: it is not open, or was refused.
  [[nodiscard]] virtual CallStream* Find(std::int32_t id) = 0;
};

struct Http2Deleter {
  void operator()(nghttp2_session* session) const noexcept { ::nghttp2_session_del(session); }
};
using Http2Pointer = std::unique_ptr<nghttp2_session, Http2Deleter>;

/// What the client is told, and must keep to.
struct Http2Limits {
  std::uint32_t streams_max = 0;     ///< open at once; a further one is refused
  std::size_t header_bytes_max = 0;  ///< announced only: CallHead enforces it
};

/// A server's session with its settings submitted; `events` outlives it.
[[nodiscard]] Http2Pointer MakeHttp2(Http2Events& events, const Http2Limits& limits);
/// Begins to send the stream's answer.
void SubmitAnswer(nghttp2_session& session, const CallStream& stream);

}  // namespace trainyard::grpc
