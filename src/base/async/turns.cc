#include "base/async/turns.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace trainyard {

struct Turns::State {
  asio::any_io_executor executor;
  std::size_t at_once;
  std::size_t under_way = 0;
  std::list<Waiter*> queue;

  void Give() {
    while (under_way < at_once && !queue.empty()) {
      Waiter& first = *queue.front();
      queue.pop_front();
      first.queued_ = false;
      first.wanted_ = !first.waiting_;
      if (first.wanted_) continue;
      ++under_way;
      first.has_turn_ = true;
      first.given_.Set();
    }
  }
};

Turns::Turns(asio::any_io_executor executor, std::size_t at_once)
    : state_(
          std::make_shared<State>(State{.executor = std::move(executor), .at_once = at_once, .queue = {}})) {}

std::size_t Turns::queued() const noexcept { return state_->queue.size(); }

std::size_t Turns::under_way() const noexcept { return state_->under_way; }

/// Set while it waits; a waiter that is cancelled returns a turn that it got at the same time.
struct Turns::Waiter::Waiting {
  Waiter& waiter;
  bool cancelled = true;
  explicit Waiting(Waiter& used) : waiter(used) {
    waiter.given_.Reset();
    waiter.waiting_ = true;
  }
  ~Waiting() {
    waiter.waiting_ = false;
    if (cancelled) waiter.Done();
  }
};

Turns::Waiter::Waiter(Turns& turns) : state_(turns.state_), given_(state_->executor) {}

Turns::Waiter::~Waiter() {
  if (queued_) state_->queue.erase(position_);
  Done();
}

void Turns::Waiter::Want() {
  if (queued_) return;
  queued_ = true;
  position_ = state_->queue.insert(state_->queue.end(), this);
  state_->Give();
}

asio::awaitable<bool> Turns::Waiter::WaitFor(std::chrono::steady_clock::duration wait_max) {
  Waiting waiting(*this);
  if (std::exchange(wanted_, false)) Want();
  state_->Give();
  if (!has_turn_) co_await given_.WaitFor(wait_max);
  waiting.cancelled = false;
  co_return has_turn_;
}

void Turns::Waiter::Done() {
  if (!std::exchange(has_turn_, false)) return;
  asio::post(state_->executor, [state = state_] {
    --state->under_way;
    state->Give();
  });
}

}  // namespace trainyard
