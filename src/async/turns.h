#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>

#include "async/event.h"

namespace trainyard {

namespace asio = boost::asio;

/// Lets a crowd have its turns on the loop a few at a time, in the order in which they were wanted, so that
/// whoever else uses the loop waits for those few and not for the crowd. A turn that ends lets the next one
/// begin only after everything else that is ready has run. Loop thread only; outlives its waiters.
class Turns {
 public:
  class Waiter;

  Turns(asio::any_io_executor executor, std::size_t at_once);

  /// Those who wait for a turn, and those who have one.
  [[nodiscard]] std::size_t queued() const noexcept;
  [[nodiscard]] std::size_t under_way() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared: the end of a turn is posted
};

/// One of the crowd. The destructor ends its turn.
class Turns::Waiter {
 public:
  explicit Waiter(Turns& turns);
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// Asks for a turn: the next one, if it has one now. Any number of times is once.
  void Want();
  /// Until it has the turn that it wanted, or wants meanwhile; false after `wait_max`: it is wanted still.
  /// One call at a time; not with a turn.
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
  bool wanted_ = false;  ///< was passed over in the queue: nobody waited
  bool waiting_ = false;
  bool has_turn_ = false;
};

}  // namespace trainyard
