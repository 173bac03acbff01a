#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/event.h"
#include "base/result.h"
#include "net/http/transport.h"
#include "net/mux/session.h"
#include "programs/attempt/frame.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::agent {

/// The frames of one connection in both directions. Frames to send are queued until the stream takes them;
/// the server's requests bound the length of the queue. Loop thread only.
class ControlStream {
 public:
  ControlStream(boost::asio::any_io_executor loop, std::shared_ptr<mux::Stream> stream);

  /// Queues the frame; drops it if the stream has ended.
  void Send(const v1::FromAgent& frame);
  /// Sends queued frames until the stream ends. Run it once, concurrently with Next.
  boost::asio::awaitable<void> SendAll();
  /// Returns the next frame. kUnavailable: the stream has ended; kInvalidArgument: the received data is no
  /// frame.
  boost::asio::awaitable<Result<v1::ToAgent>> Next();
  /// Returns true once all queued frames are sent; false after `wait_max`, or when the stream ends.
  boost::asio::awaitable<bool> Flush(std::chrono::milliseconds wait_max);
  /// Call it when the connection has ended: SendAll returns.
  void End();
  /// Tells the peer that nothing more follows. Call it after the queue was sent.
  void CloseWrite() { stream_->CloseWrite(); }

 private:
  std::shared_ptr<mux::Stream> stream_;
  replica::FrameReader reader_;
  std::vector<char> buffer_;
  std::string queued_;
  bool over_ = false;
  Event has_queued_;
  Event sent_all_;
};

/// The pause between two attempts to connect doubles from the minimum to the maximum. Each pause is shortened
/// by a random amount, so that not all agents reconnect at the same moment when a server comes back.
inline constexpr std::chrono::milliseconds kConnectPauseMin{200};
inline constexpr std::chrono::milliseconds kConnectPauseMax{10'000};
/// The time limit for each of: connecting, the TLS handshake, and the wait for a welcome.
inline constexpr std::chrono::milliseconds kConnectWaitMax{10'000};

/// The agent's connection to its server; it reconnects for as long as the agent lives.
///
///     away --connected, TLS with the pinned certificate, Hello--> asking --Welcome--> welcomed --lost-->
///     away
///                                                                       --Refused--> over
///
/// Loop thread only; the server's name is resolved on a pool.
class Uplink {
 public:
  struct Observer {
    virtual ~Observer() = default;
    /// Returns the first frame to send; `own_address` is the local address of the connection.
    virtual boost::asio::awaitable<v1::FromAgent::Hello> MakeHello(std::string own_address) = 0;
    /// Called with the welcome. Further frames are read once it has returned.
    virtual boost::asio::awaitable<void> OnWelcome(v1::ToAgent::Welcome welcome) = 0;
    /// Called when the connection counts as welcomed.
    virtual void OnWelcomed() = 0;
    /// Called with any other frame. Answers go to `control`, which may have ended by then.
    virtual void OnFrame(v1::ToAgent frame, std::shared_ptr<ControlStream> control) = 0;
  };
  struct Server {
    std::string host;
    std::uint16_t port = 0;
    std::string fingerprint;  ///< base/tls/certificate.h
  };

  /// The observer outlives it.
  Uplink(boost::asio::any_io_executor loop, Server server, Observer& observer);
  Uplink(const Uplink&) = delete;
  Uplink& operator=(const Uplink&) = delete;

  /// Connects and reconnects; returns the server's reason when the server rejects the agent.
  boost::asio::awaitable<std::string> Run();

  [[nodiscard]] bool welcomed() const noexcept { return welcomed_.IsSet(); }
  /// Sends the frame to the server that has welcomed the agent. Without one the frame is dropped, since the
  /// next Hello reports the current state.
  void Send(const v1::FromAgent& frame);
  /// Opens a stream on the current connection, or on one that is made within `wait_max`; null: there was
  /// none.
  boost::asio::awaitable<std::shared_ptr<mux::Stream>> Open(std::string path,
                                                            std::chrono::milliseconds wait_max);
  /// Ends the connection: sends what is queued, tells the server that nothing more follows, and waits a
  /// moment for the server to close it.
  boost::asio::awaitable<void> Finish();

 private:
  struct Outcome {
    bool refused = false;
    std::string reason;
  };
  struct ServerConnection {
    std::unique_ptr<http::Transport> transport;
    std::string own_address;
  };
  boost::asio::awaitable<Result<ServerConnection>> Connect();
  boost::asio::awaitable<Outcome> Serve(ServerConnection connection);
  boost::asio::awaitable<Outcome> Talk(mux::Session& session, std::string own_address);
  boost::asio::awaitable<Outcome> Listen(mux::Session& session, std::shared_ptr<ControlStream> control);
  boost::asio::awaitable<Result<v1::ToAgent>> FirstAnswer(mux::Session& session, ControlStream& control);
  void SayOnce(std::string text);

  boost::asio::any_io_executor loop_;
  const Server server_;
  Observer& observer_;
  boost::asio::ssl::context tls_;
  boost::asio::thread_pool names_{1};
  mux::Session* session_ = nullptr;  ///< null unless welcomed
  std::shared_ptr<ControlStream> control_;
  Event welcomed_;
  Event lost_;
  std::string said_;  ///< the last failure that was logged
};

}  // namespace trainyard::agent
