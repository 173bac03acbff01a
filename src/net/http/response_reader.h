#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/chunk_decoder.h"
#include "net/http/head.h"

namespace trainyard::http {

/// Parses one HTTP/1 response as its bytes arrive, in pieces of any size: its head, then its body without the
/// framing. Interim responses (such as 100 Continue) are skipped; 101 is a response without a body, and bytes
/// after it belong to the new protocol. No input or output; use one object per response; any thread. Source:
/// RFC 9112 sections 6 and 7.
class ResponseReader {
 public:
  /// Receives a piece of the body; its error ends Feed(). head() is set when it is called.
  using Sink = std::function<Status(std::string_view)>;

  static constexpr std::size_t kHeadBytesMax = std::size_t{256} << 10;

  /// @param to_head  the response answers a HEAD request and has no body
  explicit ResponseReader(bool to_head = false) : to_head_(to_head) {}

  /// Consumes the bytes that belong to this response and returns how many. kDataLoss: malformed, or a head
  /// beyond kHeadBytesMax. Not to be called again after an error.
  [[nodiscard]] Result<std::size_t> Feed(std::string_view bytes, const Sink& sink);

  /// The connection has ended: a body of unknown length is complete now. kUnavailable: it ended before the
  /// first byte of a response; kDataLoss: in the middle of one.
  [[nodiscard]] Status End();

  [[nodiscard]] bool has_head() const noexcept { return state_ != State::kHead; }
  [[nodiscard]] bool done() const noexcept { return state_ == State::kDone; }
  /// Empty until has_head().
  [[nodiscard]] const ResponseHead& head() const noexcept { return head_; }
  /// Whether the connection may be used for another request once this response is done.
  [[nodiscard]] bool keep_alive() const noexcept { return framing_.keep_alive; }

 private:
  enum class State { kHead, kCounted, kChunks, kUntilClose, kDone };

  Result<std::size_t> FeedHead(std::string_view bytes);
  Status BeginBody();
  Result<std::size_t> FeedChunks(std::string_view bytes, const Sink& sink);

  bool to_head_;
  State state_ = State::kHead;
  std::string begun_;  ///< of the head
  HeadScanner scanner_;
  ResponseHead head_;
  Framing framing_;
  std::uint64_t left_ = 0;  ///< of a counted body
  ChunkDecoder chunks_;
};

}  // namespace trainyard::http
