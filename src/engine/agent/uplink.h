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

#include "base/async/event.h"
#include "base/result.h"
#include "engine/agent/control_stream.h"
#include "net/http/transport.h"
#include "net/mux/session.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::agent {

/// Between two tries to connect: the pause doubles from the short one to the long one, and each is shortened
/// by chance, so that the agents of a server that comes back do not all come at once.
inline constexpr std::chrono::milliseconds kConnectPauseMin{200};
inline constexpr std::chrono::milliseconds kConnectPauseMax{10'000};
/// To connect, to shake hands, and to be welcomed: each at most this long.
inline constexpr std::chrono::milliseconds kConnectWaitMax{10'000};

/// The agent's connection to its server, made again for as long as the agent lives.
///
///     away --connected, TLS with the pinned certificate, Hello--> asking --Welcome--> welcomed --lost-->
///     away
///                                                                       --Refused--> over
///
/// Loop thread only; looking up the server's name is a pool's work.
class Uplink {
 public:
  struct Observer {
    virtual ~Observer() = default;
    /// What to say first; `own_address` is this end of the connection.
    virtual boost::asio::awaitable<v1::FromAgent::Hello> MakeHello(std::string own_address) = 0;
    /// Further frames are read once it has returned.
    virtual boost::asio::awaitable<void> OnWelcome(v1::ToAgent::Welcome welcome) = 0;
    /// The connection counts as welcomed now.
    virtual void OnWelcomed() = 0;
    /// Anything else; answers go to `control`, which may be over by then.
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

  /// Connects again and again; returns the server's reason when it is refused.
  boost::asio::awaitable<std::string> Run();

  [[nodiscard]] bool welcomed() const noexcept { return welcomed_.IsSet(); }
  /// To the server that has welcomed the agent; without one the frame is dropped, since the next Hello tells
  /// how things are.
  void Send(const v1::FromAgent& frame);
  /// A stream of the present connection, or of one that comes within `wait_max`; null: there was none.
  boost::asio::awaitable<std::shared_ptr<mux::Stream>> Open(std::string path,
                                                            std::chrono::milliseconds wait_max);
  /// For the end: says that nothing more comes, after all that was sent, and waits a moment for the server to
  /// close the connection.
  boost::asio::awaitable<void> Finish();

 private:
  struct Outcome {
    bool refused = false;
    std::string reason;
  };
  struct Connected {
    std::unique_ptr<http::Transport> transport;
    std::string own_address;
  };
  boost::asio::awaitable<Result<Connected>> Connect();
  boost::asio::awaitable<Outcome> Serve(Connected connection);
  boost::asio::awaitable<Outcome> Talk(mux::Session& session, std::string own_address);
  boost::asio::awaitable<Outcome> Listen(mux::Session& session, std::shared_ptr<ControlStream> control);
  boost::asio::awaitable<Result<v1::ToAgent>> FirstAnswer(mux::Session& session, ControlStream& control);
  void SayOnce(std::string text);

  boost::asio::any_io_executor loop_;
  const Server server_;
  Observer& observer_;
  boost::asio::ssl::context tls_;
  boost::asio::thread_pool names_{1};
  mux::Session* session_ = nullptr;  ///< while it is welcomed
  std::shared_ptr<ControlStream> control_;
  Event welcomed_;
  Event lost_;
  std::string said_;  ///< why the last try failed
};

}  // namespace trainyard::agent
