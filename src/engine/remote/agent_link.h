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

/// Of an agent's first frame: before it nobody knows who it is.
inline constexpr std::size_t kHelloBytesMax = std::size_t{64} << 10;
/// Of any other frame, but for those that bring what an attempt left.
inline constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;
/// Of the memory of all answers to one Collect: what a supervisor keeps for a server that is away
/// (supervisor::kSpoolBytesMax, 256 MiB), and room for what is around it.
inline constexpr std::size_t kCollectBytesMax = std::size_t{384} << 20;
/// Of the memory of all answers of one agent whose last one has not come.
inline constexpr std::size_t kHeldBytesMax = std::size_t{512} << 20;

/// An agent's control stream, seen from the server. Loop thread only. Whoever waits for an answer shares it.
class AgentLink {
 public:
  using Answers = std::vector<FromAgent::Answer>;

  AgentLink(boost::asio::any_io_executor loop, std::shared_ptr<mux::Stream> stream);

  /// The next frame. kUnavailable: the stream has ended; kInvalidArgument: what came is no frame, or a longer
  /// one than it may be now.
  boost::asio::awaitable<Result<FromAgent>> Read();
  /// It is known who the agent is: from now on its frames may be longer.
  void Admit() noexcept { admitted_ = true; }
  /// Sends what is queued, until the stream ends: a task of the connection.
  boost::asio::awaitable<void> WriteQueued();
  /// Queues a frame; dropped once the stream has ended.
  void Send(const ToAgent& frame);

  /// Numbers the question, sends it and waits: one answer, to Collect several. The agent's error is the
  /// error. kUnavailable: the connection was lost first, and the agent may have done it; kResourceExhausted:
  /// its answers are larger than may be.
  boost::asio::awaitable<Result<Answers>> Ask(ToAgent::Request request);
  void OnAnswer(FromAgent::Answer answer);

  /// Ends the stream: who waits is told.
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
  int collecting_ = 0;    ///< questions with several answers
  std::size_t held_ = 0;  ///< bytes of all questions' answers
  std::int64_t asked_ = 0;
  std::map<std::int64_t, std::shared_ptr<Question>> questions_;
};

}  // namespace trainyard::engine
