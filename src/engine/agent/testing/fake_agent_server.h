#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/async/task_group.h"
#include "engine/agent/uplink.h"
#include "net/mux/session.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::agent {

/// The server as its agents see it, for tests: it speaks TLS with its own certificate, records what agents
/// send, and forwards the streams of connections to a Unix socket. A separate thread serves; tests wait until
/// it has seen what they expect.
class FakeAgentServer {
 public:
  /// What was received from all agents.
  struct Memory {
    int connections = 0;
    std::vector<v1::FromAgent::Hello> hellos;
    std::vector<v1::FromAgent> frames;  ///< all but the first of each connection
    std::vector<std::string> paths;     ///< paths of all streams except control streams
    std::string shown;                  ///< output of all terminals
    int terminals_ended = 0;
  };
  /// Returns the first frame for an agent; a Welcome unless set.
  using Greet = std::function<v1::ToAgent(const v1::FromAgent::Hello&)>;

  /// @param led_to  the Unix socket where the streams of connections end.
  explicit FakeAgentServer(std::string led_to);
  ~FakeAgentServer();

  void SetGreet(Greet greet);
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// The certificate authority's fingerprint.
  [[nodiscard]] const std::string& fingerprint() const noexcept { return fingerprint_; }

  /// The certificate authority, in PEM.
  [[nodiscard]] const std::string& authority() const noexcept { return authority_; }

  /// Sends a frame to the agent that connected last.
  void Send(v1::ToAgent frame);
  /// Sends a request to that agent and waits for its answers; after 20 s it returns those that came.
  std::vector<v1::FromAgent::Answer> Ask(v1::ToAgent::Request request);
  /// Types the text into the terminal that was opened last.
  void Type(std::string text);
  /// Ends all connections.
  void Cut();
  /// Waits until the condition holds; false after 20 s. Called with the memory locked.
  [[nodiscard]] bool WaitFor(const std::function<bool(const Memory&)>& condition);

 private:
  struct Peer;
  boost::asio::awaitable<void> Accept();
  boost::asio::awaitable<void> Serve(boost::asio::ip::tcp::socket socket);
  boost::asio::awaitable<void> TakeStream(std::shared_ptr<Peer> peer, std::string path,
                                          std::shared_ptr<mux::Stream> stream);
  boost::asio::awaitable<void> TakeTerminal(std::shared_ptr<mux::Stream> stream);
  boost::asio::awaitable<void> TypeInto(std::shared_ptr<mux::Stream> stream, std::string text);
  boost::asio::awaitable<void> TakeFrames(std::shared_ptr<Peer> peer, std::shared_ptr<mux::Stream> stream);
  void Remember(const std::function<void(Memory&)>& change);

  const std::string led_to_;
  std::string fingerprint_;
  std::string authority_;
  boost::asio::io_context loop_{1};
  boost::asio::ssl::context tls_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  std::int64_t next_request_ = 1;
  std::vector<std::shared_ptr<Peer>> peers_;
  std::shared_ptr<mux::Stream> terminal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Memory memory_;
  Greet greet_;
  std::optional<TaskGroup> tasks_;
  std::thread thread_;
};

}  // namespace trainyard::agent
