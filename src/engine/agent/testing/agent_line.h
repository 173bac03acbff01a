#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "net/http/transport.h"

namespace trainyard::agent {

/// A connection in memory between two machines, for the simulation. What one end writes reaches the other end
/// in order and after a while. Loop thread only.
class AgentLine {
 public:
  /// `delay`: how long the next bytes take.
  AgentLine(boost::asio::any_io_executor loop, std::function<std::chrono::milliseconds()> delay);

  /// Each end once. They may outlive this object.
  [[nodiscard]] std::unique_ptr<http::Transport> TakeEnd(int end);
  /// Both ends find that the connection is over.
  void Cut();
  /// From now on nothing arrives at either end, and neither of them is told.
  void FallSilent();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace trainyard::agent
