#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/result.h"
#include "net/mux/session.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::engine {

using agent::v1::FromAgent;
using agent::v1::ToAgent;

/// The longest first frame of an agent, which is not authenticated yet.
inline constexpr std::size_t kHelloBytesMax = std::size_t{64} << 10;
/// The longest other frame, except for those with an attempt's results.
inline constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;
/// The most memory for all answers to one Collect: what a supervisor keeps while its server is away
/// (supervisor::kSpoolBytesMax, 256 MiB), plus some overhead.
inline constexpr std::size_t kCollectBytesMax = std::size_t{384} << 20;
/// The most memory for all incomplete answers of one agent, whose last part has not come.
inline constexpr std::size_t kHeldBytesMax = std::size_t{512} << 20;

/// The server's end of an agent's control stream. Loop thread only. Callers that wait for an answer share its
/// ownership.
class AgentLink {
 public:
  using Answers = std::vector<FromAgent::Answer>;

  AgentLink(boost::asio::any_io_executor loop, std::shared_ptr<mux::Stream> stream);

  /// Returns the next frame. kUnavailable: the stream has ended; kInvalidArgument: the received data is no
  /// frame, or the frame is too long.
  boost::asio::awaitable<Result<FromAgent>> Read();
  /// Call it when the agent is authenticated: from now on its frames may be longer.
  void Admit() noexcept { admitted_ = true; }
  /// Sends queued frames until the stream ends. Run it as a task of the connection.
  boost::asio::awaitable<void> WriteQueued();
  /// Queues a frame; dropped once the stream has ended.
  void Send(const ToAgent& frame);

  /// Numbers the request, sends it and waits for its answer; Collect has several. An error of the agent is
  /// returned as it is. kUnavailable: the connection was lost first, and the agent may have done what was
  /// requested; kResourceExhausted: its answers are too large.
  boost::asio::awaitable<Result<Answers>> Ask(ToAgent::Request request);
  void OnAnswer(FromAgent::Answer answer);

  /// Ends the stream: waiting callers get an error.
  void Close();
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

 private:
  struct Question {
    explicit Question(const boost::asio::any_io_executor& loop) : done(loop) {}
    Event done;
    bool several = false;
    Answers answers;
    std::size_t bytes = 0;  ///< of memory, of the answers
    std::optional<Error> failure;
  };
  [[nodiscard]] std::size_t FrameBytesMax() const noexcept;
  class Frames;

  boost::asio::any_io_executor loop_;
  std::shared_ptr<mux::Stream> stream_;
  std::shared_ptr<Frames> frames_;
  std::string queue_;
  Event wake_;
  bool closed_ = false;
  bool admitted_ = false;
  int collecting_ = 0;    ///< requests with several answers
  std::size_t held_ = 0;  ///< bytes of all requests' answers
  std::int64_t asked_ = 0;
  std::map<std::int64_t, std::shared_ptr<Question>> questions_;
};

}  // namespace trainyard::engine
