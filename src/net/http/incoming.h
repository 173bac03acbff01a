#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <string_view>

#include "net/http/channel.h"
#include "net/http/chunk_decoder.h"
#include "net/http/head.h"
#include "net/http/message.h"

/// Makes the Request that handlers see from a parsed head.
namespace trainyard::http {

/// 400: the query is malformed; 501: the method is unknown. `scheme` is the transport's.
[[nodiscard]] std::expected<Request, HeadError> MakeRequest(RequestHead head, std::string_view scheme);

/// The decompressing reader for the request's Content-Encoding; null if there is none; 415 for an unknown
/// coding. `raw` outlives it.
[[nodiscard]] std::expected<std::unique_ptr<BodyReader>, HeadError> DecodeBody(const Request& request,
                                                                               BodyReader& raw);

/// Applies `X-HTTP-Method-Override` in a POST: Google's clients send it for a GET whose URL would be too
/// long. The body is then the query (application/x-www-form-urlencoded).
asio::awaitable<Status> ApplyMethodOverride(Request& request);

/// The minimum rate of a sender, on average over windows of time spent waiting for it. The time that the
/// reader needs does not count. Pure; one thread.
class RateFloor {
 public:
  using Duration = std::chrono::steady_clock::duration;

  /// `bytes_min`: per window. 0: any rate is accepted.
  RateFloor(std::uint64_t bytes_min, Duration window) : bytes_min_(bytes_min), window_(window) {}

  /// Records the bytes that arrived and how long the reader waited for them; false: too slow.
  [[nodiscard]] bool Came(std::uint64_t bytes, Duration waited) noexcept {
    bytes_ += bytes;
    waited_ += waited;
    if (waited_ < window_) return true;
    // After a longer wait more bytes are due.
    const bool enough = bytes_ >= bytes_min_ * static_cast<std::uint64_t>(waited_ / window_);
    bytes_ = 0;
    waited_ = {};
    return enough;
  }

 private:
  std::uint64_t bytes_min_;
  Duration window_;
  std::uint64_t bytes_ = 0;
  Duration waited_{};
};

/// Limits of a body's size and speed: see ServerOptions.
struct BodyLimits {
  std::uint64_t bytes_max;
  Duration wait_max;
  std::uint64_t window_bytes_min;
  Duration window;
};

/// A request's body as it is framed on the connection, not decompressed. Loop thread only; lives within one
/// request.
class RequestBody final : public BodyReader {
 public:
  RequestBody(Channel& channel, const Framing& framing, const BodyLimits& limits);

  asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override;

  /// Reads and discards the rest, up to `bytes_max`. Returns whether the body's end was reached.
  asio::awaitable<bool> Drain(std::uint64_t bytes_max);

  [[nodiscard]] bool finished() const noexcept { return finished_; }
  [[nodiscard]] bool timed_out() const noexcept { return timed_out_; }
  /// Whether to read the rest so that the connection can be kept: the client is sending it already, and it is
  /// small.
  [[nodiscard]] bool IsWorthDraining(std::uint64_t bytes_max) const noexcept;

 private:
  asio::awaitable<Result<std::size_t>> ReadCounted(std::span<std::byte> buffer);
  asio::awaitable<Result<std::size_t>> ReadChunked(std::span<std::byte> buffer);
  /// kDeadlineExceeded for a client that sends too slowly.
  [[nodiscard]] Status CheckRate(std::size_t bytes, std::chrono::steady_clock::time_point since);
  [[nodiscard]] std::unexpected<Error> Fail(Error error);

  Channel& channel_;
  ChunkDecoder chunks_;
  bool chunked_;
  std::uint64_t left_;        ///< counted bodies
  std::uint64_t bytes_left_;  ///< until the limit of the body's size
  Duration wait_max_;
  RateFloor rate_;
  bool continue_pending_;
  bool finished_;
  bool failed_ = false;
  bool timed_out_ = false;
};

/// Decompresses a gzip body with a limit: kOutOfRange if the result is larger than kInflateFreeBytes and than
/// kInflateRatioMax times the compressed size. (Deflate's own maximum is 1032; real logs and JSON stay below
/// 100.)
[[nodiscard]] std::unique_ptr<BodyReader> InflateBody(BodyReader& compressed);

inline constexpr std::uint64_t kInflateRatioMax = 250;
inline constexpr std::uint64_t kInflateFreeBytes = std::uint64_t{64} << 20;

}  // namespace trainyard::http
