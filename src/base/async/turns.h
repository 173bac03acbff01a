#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>

#include "base/async/event.h"

namespace trainyard {

namespace asio = boost::asio;

/// Lets many waiters take turns on the loop, a few at a time and in the order in which they asked, so that
/// other users of the loop wait only for those few. When a turn ends, the next one begins only after
/// everything else that is ready has run. Loop thread only; outlives its waiters.
class Turns {
 public:
  class Waiter;

  Turns(asio::any_io_executor executor, std::size_t at_once);

  /// The number of waiters that wait for a turn, and of those that have one.
  [[nodiscard]] std::size_t queued() const noexcept;
  [[nodiscard]] std::size_t under_way() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared: the end of a turn is posted
};

/// One waiter. The destructor ends its turn.
class Turns::Waiter {
 public:
  explicit Waiter(Turns& turns);
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// Asks for a turn; for another one if it has a turn now. Asking again has no effect.
  void Want();
  /// Waits for the turn that was asked for before or is asked for meanwhile. False after `wait_max`: the
  /// request remains. One call at a time; not while it has a turn.
  asio::awaitable<bool> WaitFor(std::chrono::steady_clock::duration wait_max);
  /// Ends the turn.
  void Done();

 private:
  friend struct Turns::State;
  struct Waiting;

  std::shared_ptr<State> state_;
  Event given_;
  std::list<Waiter*>::iterator position_;
  bool queued_ = false;
  bool wanted_ = false;  ///< was skipped in the queue because WaitFor was not running
  bool waiting_ = false;
  bool has_turn_ = false;
};

}  // namespace trainyard
