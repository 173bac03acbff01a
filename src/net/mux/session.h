#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/transport.h"

namespace trainyard::mux {

namespace asio = boost::asio;

/// Limit of a stream's unread bytes, and of its bytes waiting to be sent.
inline constexpr std::size_t kStreamWindowBytes = std::size_t{256} << 10;
/// Streams that are open at once; a further one is refused.
inline constexpr int kStreamsMax = 1024;
/// The longest path of a stream.
inline constexpr std::size_t kPathBytesMax = 1024;

/// One stream of bytes in both directions. It ends with its session. Loop thread only; one read and one write
/// at a time. Dropping the last reference resets it.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Reads at least one byte; 0: the other side has closed its direction. kUnavailable: the stream is reset
  /// or the connection lost.
  virtual asio::awaitable<Result<std::size_t>> Read(std::span<char> buffer) = 0;
  /// Returns once all bytes are sent or at most kStreamWindowBytes are waiting to be sent. kUnavailable as
  /// above.
  virtual asio::awaitable<Status> Write(std::string_view bytes) = 0;
  /// Ends the direction that is written. Reading is still possible.
  virtual void CloseWrite() = 0;
  /// Ends both directions at once; pending reads and writes fail.
  virtual void Reset() = 0;
};

/// Why a connection ended.
enum class Ending {
  kClosed,  ///< by either side
  kSilent,  ///< nothing arrived for Options::silence_max: the network may be down
  kBroken,  ///< what arrived was not HTTP/2
};

/// One connection. Loop thread only. The destructor closes it; Run must have returned by then.
class Session {
 public:
  enum class Side { kOpens, kIsOpened };
  struct Options {
    std::chrono::milliseconds ping_pause{5'000};  ///< between pings while nothing arrives
    std::chrono::milliseconds silence_max{20'000};
    /// kIsOpened only: called when the other side opened a stream. May be called several times in one turn of
    /// the loop.
    std::function<void(std::string path, std::shared_ptr<Stream> stream)> on_stream{};
  };

  /// The transport's handshake must be complete.
  Session(asio::any_io_executor executor, std::unique_ptr<http::Transport> transport, Side side,
          Options options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Serves the connection until it ends; all streams have ended then.
  asio::awaitable<Ending> Run();
  /// Opens a stream. kOpens only, while Run runs. Null: the connection has ended, or has kStreamsMax streams.
  [[nodiscard]] std::shared_ptr<Stream> Open(std::string_view path);
  /// Ends the connection; Run returns soon.
  void Close();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace trainyard::mux
