#include "base/async/event.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <list>
#include <utility>

namespace trainyard {

namespace {

struct Waiter {
  explicit Waiter(const asio::any_io_executor& executor) : timer(executor) {}
  asio::steady_timer timer;
  bool woken = false;
};

}  // namespace

struct Event::State {
  asio::any_io_executor executor;
  std::list<Waiter> waiters;
  bool set = false;
};

namespace {

using TimePoint = std::chrono::steady_clock::time_point;

/// Removes the waiter however its coroutine ends.
template <class State>
struct Registration {
  explicit Registration(std::shared_ptr<State> registered_with)
      : state(std::move(registered_with)),
        waiter(state->waiters.emplace(state->waiters.end(), state->executor)) {}
  ~Registration() { state->waiters.erase(waiter); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  std::shared_ptr<State> state;
  std::list<Waiter>::iterator waiter;
};

template <class State>
asio::awaitable<bool> WaitUntil(std::shared_ptr<State> state, TimePoint deadline) {
  if (state->set) co_return true;
  Registration<State> registration(std::move(state));
  Waiter& waiter = *registration.waiter;
  waiter.timer.expires_at(deadline);
  co_await waiter.timer.async_wait(asio::as_tuple(asio::use_awaitable));
  if (waiter.woken) co_return true;
  const asio::cancellation_state cancellation = co_await asio::this_coro::cancellation_state;
  if (cancellation.cancelled() != asio::cancellation_type::none) {
    throw boost::system::system_error(asio::error::operation_aborted);  // as every other asio wait does
  }
  co_return false;
}

}  // namespace

Event::Event(asio::any_io_executor executor) : state_(std::make_shared<State>()) {
  state_->executor = std::move(executor);
}

Event::~Event() = default;

void Event::Set() {
  state_->set = true;
  for (Waiter& waiter : state_->waiters) {
    waiter.woken = true;
    waiter.timer.cancel();
  }
}

void Event::Reset() noexcept { state_->set = false; }

bool Event::IsSet() const noexcept { return state_->set; }

asio::awaitable<void> Event::Wait() { co_await WaitUntil(state_, TimePoint::max()); }

asio::awaitable<bool> Event::WaitFor(std::chrono::steady_clock::duration duration_max) {
  const TimePoint now = std::chrono::steady_clock::now();
  const TimePoint deadline = duration_max < TimePoint::max() - now ? now + duration_max : TimePoint::max();
  return WaitUntil(state_, deadline);
}

}  // namespace trainyard
