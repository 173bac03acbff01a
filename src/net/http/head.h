#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/headers.h"

/// The head of an HTTP/1 message: start line and header fields. Pure; any thread.
///
/// Stricter than RFC 9112 where lenient parsing allows request smuggling: lines end in CRLF, no folded
/// fields, no space before a colon, no second Host or differing Content-Length, no transfer coding but
/// chunked.
namespace trainyard::http {

/// Why a message was refused, with the status of the response: 400, 417, 431, 501, 505.
struct HeadError {
  int status = 400;
  std::string reason;
  friend bool operator==(const HeadError&, const HeadError&) = default;
};

/// Finds the end of the head; call it again as bytes arrive.
class HeadScanner {
 public:
  /// The head's size including the empty line; nullopt while it is incomplete; 400 for a line that does not
  /// end in CRLF. `bytes` begins at the start line and must have grown since the last call.
  [[nodiscard]] std::expected<std::optional<std::size_t>, HeadError> Scan(std::string_view bytes);
  /// Call it before the next message.
  void Reset() noexcept { scanned_ = 0; }

 private:
  std::size_t scanned_ = 0;
};

struct RequestHead {
  std::string method;
  std::string target;
  int minor_version = 1;
  Headers headers;
};

/// `head` is what HeadScanner found.
[[nodiscard]] std::expected<RequestHead, HeadError> ParseRequestHead(std::string_view head);

struct ResponseHead {
  int status = 0;
  int minor_version = 1;
  Headers headers;
};
[[nodiscard]] std::expected<ResponseHead, HeadError> ParseResponseHead(std::string_view head);

/// What to do with a request that has Transfer-Encoding and Content-Length.
enum class FramingRules {
  kStrict,       ///< refuse it: requests are smuggled in this way
  kChunkedWins,  ///< RFC 9112 section 6.1: for the front that TensorFlow's gs:// talks to, which always sends
                 ///< both (docs/spec environment, section 11). It also sends "Transfer-Encoding: identity",
                 ///< which is ignored.
};

/// How the body is delimited, and whether the connection is kept.
struct Framing {
  bool chunked = false;
  std::optional<std::uint64_t> content_length;
  bool until_close = false;  ///< responses only
  bool keep_alive = true;
  bool expects_continue = false;
  friend bool operator==(const Framing&, const Framing&) = default;
};
[[nodiscard]] std::expected<Framing, HeadError> RequestFraming(const RequestHead& head, FramingRules rules);

/// `to_head`: the response answers a HEAD request.
[[nodiscard]] std::expected<Framing, HeadError> ResponseFraming(const ResponseHead& head, bool to_head);

}  // namespace trainyard::http
