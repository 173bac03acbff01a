#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "async/event.h"
#include "base/result.h"
#include "mux/session.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::engine {

using agent::v1::FromAgent;
using agent::v1::ToAgent;

/// An agent's control stream, seen from the server. Loop thread only. Whoever waits for an answer shares it.
class AgentLink {
 public:
  using Answers = std::vector<FromAgent::Answer>;

  AgentLink(boost::asio::any_io_executor loop, std::shared_ptr<mux::Stream> stream);

  /// The next frame. kUnavailable: the stream has ended; kInvalidArgument: what came is no frame.
  boost::asio::awaitable<Result<FromAgent>> Read();
  /// Sends what is queued, until the stream ends: a task of the connection.
  boost::asio::awaitable<void> WriteQueued();
  /// Queues a frame; dropped once the stream has ended.
  void Send(const ToAgent& frame);

  /// Numbers the question, sends it and waits: one answer, to Collect several. The agent's error is the
  /// error. kUnavailable: the connection was lost first, and the agent may have done it.
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
  };
  class Frames;

  boost::asio::any_io_executor loop_;
  std::shared_ptr<mux::Stream> stream_;
  std::shared_ptr<Frames> frames_;
  std::string queue_;
  Event wake_;
  bool closed_ = false;
  std::int64_t asked_ = 0;
  std::map<std::int64_t, std::shared_ptr<Question>> questions_;
};

}  // namespace trainyard::engine
