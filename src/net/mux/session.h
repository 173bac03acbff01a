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

/// Of what a stream's reader has not taken yet, and of what waits to be sent.
inline constexpr std::size_t kStreamWindowBytes = std::size_t{256} << 10;
/// Streams that are open at once; a further one is refused.
inline constexpr int kStreamsMax = 1024;
/// A path is no longer.
inline constexpr std::size_t kPathBytesMax = 1024;

/// One stream of bytes in both directions. It ends with its session. Loop thread only; one read and one write
/// at a time. Dropping the last reference resets it.
class Stream {
 public:
  virtual ~Stream() = default;
  /// At least one byte; 0: the other side has closed its direction. kUnavailable: the stream is reset or the
  /// connection lost.
  virtual asio::awaitable<Result<std::size_t>> Read(std::span<char> buffer) = 0;
  /// Returns once all of it is on its way, or waits in no more than kStreamWindowBytes. kUnavailable as
  /// above.
  virtual asio::awaitable<Status> Write(std::string_view bytes) = 0;
  /// Nothing more is written. Reading goes on.
  virtual void CloseWrite() = 0;
  /// Both directions end at once, and whoever waits here is told so.
  virtual void Reset() = 0;
};

/// Why a connection is over.
enum class Ending {
  kClosed,  ///< by either side
  kSilent,  ///< the other side said nothing for Options::silence_max: its network may be cut
  kBroken,  ///< what came was no HTTP/2
};

/// One connection. Loop thread only. The destructor closes it; Run has returned by then.
class Session {
 public:
  enum class Side { kOpens, kIsOpened };
  struct Options {
    std::chrono::milliseconds ping_pause{5'000};  ///< a question while nothing comes
    std::chrono::milliseconds silence_max{20'000};
    /// Of kIsOpened: the other side opened a stream. A turn of its own for each is not promised.
    std::function<void(std::string path, std::shared_ptr<Stream> stream)> on_stream{};
  };

  /// The transport has done its handshake.
  Session(asio::any_io_executor executor, std::unique_ptr<http::Transport> transport, Side side,
          Options options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Serves the connection until it ends; all streams have ended then.
  asio::awaitable<Ending> Run();
  /// Of kOpens, while Run runs. Null: the connection is over, or has kStreamsMax.
  [[nodiscard]] std::shared_ptr<Stream> Open(std::string_view path);
  /// Ends the connection; Run returns soon.
  void Close();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace trainyard::mux
