#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http/deadline.h"
#include "net/http/message.h"
#include "net/http/peer.h"
#include "net/http/transport.h"

namespace trainyard::http {

using Duration = std::chrono::steady_clock::duration;

/// A transport with a read buffer and a deadline on every wait: bytes that were read ahead are kept for the
/// next caller. Loop thread only; one read and one write at a time. Errors: kDeadlineExceeded (the peer was
/// too slow; any progress starts the wait again), kUnavailable (the connection is lost).
class Channel {
 public:
  Channel(const asio::any_io_executor& executor, std::unique_ptr<Transport> transport);

  asio::awaitable<Status> Handshake(Duration wait_max);

  [[nodiscard]] std::string_view Buffered() const noexcept {
    return {buffer_.data() + begin_, end_ - begin_};
  }
  void Consume(std::size_t count) noexcept { begin_ += count; }
  /// Reads more bytes and appends them to the buffer; 0 at the end of the stream. The buffer grows without
  /// limit: the caller has to bound it.
  asio::awaitable<Result<std::size_t>> Fill(Duration wait_max);
  /// Reads buffered bytes if there are any, else directly from the transport; 0 at the end of the stream.
  asio::awaitable<Result<std::size_t>> Read(std::span<std::byte> buffer, Duration wait_max);

  /// Writes all of `first`, then all of `second`.
  asio::awaitable<Status> Write(std::string_view first, std::string_view second, Duration wait_max);
  /// Sends `length` bytes of the file from `offset` on. kDataLoss: the file is shorter than that.
  asio::awaitable<Status> SendFile(int descriptor, std::uint64_t offset, std::uint64_t length,
                                   Duration wait_max);

  /// Ends the connection so that the last response reaches a peer that is still sending: closes our side,
  /// then reads and discards bytes for a bounded time.
  asio::awaitable<void> CloseGently(Duration wait_max);
  /// Ends pending operations and all later ones with an error.
  void Close() { transport_->Close(); }
  [[nodiscard]] std::string_view scheme() const noexcept { return transport_->scheme(); }
  /// Whether the handshake selected HTTP/2.
  [[nodiscard]] bool is_http2() const noexcept { return transport_->is_http2(); }
  /// The peer of the connection.
  [[nodiscard]] Peer& peer() noexcept { return peer_; }
  /// What the server and the protocol that serves the channel tell each other. Each side sets its own part,
  /// and clears it before its objects end.
  struct Signals {
    std::function<void(bool is_busy)> on_busy;  ///< set by the server: whether a request is in flight
    std::function<void()> on_stop;              ///< set by the protocol: finish the requests, then end
  };
  [[nodiscard]] Signals& signals() noexcept { return signals_; }

 private:
  [[nodiscard]] Error Explain(Error error) const;
  asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer, Duration wait_max);

  std::unique_ptr<Transport> transport_;
  Peer peer_;
  Signals signals_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;  // asio's reactor does not wake a second read of a stream that has ended
  Deadline read_deadline_;
  Deadline write_deadline_;
};

/// The channel as an upgraded connection: bytes that followed the request's head are read first. Reads
/// have no deadline (the protocol above has its own heartbeat), writes do.
[[nodiscard]] std::shared_ptr<ByteStream> MakeByteStream(std::shared_ptr<Channel> channel,
                                                         Duration write_wait_max);

}  // namespace trainyard::http
