#include "net/http/deadline.h"

#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace trainyard::http {

namespace {

using TimePoint = std::chrono::steady_clock::time_point;
constexpr TimePoint kNever = TimePoint::max();

}  // namespace

struct Deadline::State {
  State(const asio::any_io_executor& executor, std::function<void()> used)
      : timer(executor), on_expiry(std::move(used)) {}

  asio::steady_timer timer;
  std::function<void()> on_expiry;
  TimePoint deadline = kNever;
  TimePoint armed_for = kNever;  ///< kNever: the timer does not run
  bool expired = false;
};

Deadline::Deadline(const asio::any_io_executor& executor, std::function<void()> on_expiry)
    : state_(std::make_shared<State>(executor, std::move(on_expiry))) {}

Deadline::~Deadline() {
  state_->on_expiry = nullptr;
  state_->timer.cancel();
}

void Deadline::Set(std::chrono::steady_clock::duration wait_max) {
  state_->deadline = std::chrono::steady_clock::now() + wait_max;
  state_->expired = false;
  if (state_->deadline < state_->armed_for) Arm(state_);
}

void Deadline::Clear() noexcept { state_->deadline = kNever; }

bool Deadline::expired() const noexcept { return state_->expired; }

void Deadline::Arm(const std::shared_ptr<State>& state) {
  state->armed_for = state->deadline;
  state->timer.expires_at(state->deadline);
  state->timer.async_wait([state](const boost::system::error_code& error) {
    if (error == asio::error::operation_aborted || !state->on_expiry) return;
    state->armed_for = kNever;
    if (state->deadline == kNever) return;
    if (state->deadline > std::chrono::steady_clock::now()) return Arm(state);
    state->deadline = kNever;
    state->expired = true;
    state->on_expiry();
  });
}

}  // namespace trainyard::http
