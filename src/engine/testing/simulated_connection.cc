#include "engine/testing/simulated_connection.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string>
#include <utility>

namespace trainyard::engine {

namespace asio = boost::asio;
using std::chrono::milliseconds;

SimulatedConnection::SimulatedConnection(asio::any_io_executor loop, std::mt19937_64& random,
                                         std::function<void()> on_arrival)
    : random_(random), on_arrival_(std::move(on_arrival)), wake_(std::move(loop)) {}

/// Most frames arrive at once.
milliseconds SimulatedConnection::Delay() {
  const auto chance = random_() % 16;
  if (chance >= 4) return milliseconds(0);
  return milliseconds(random_() % (chance == 0 ? 300 : 20));
}

asio::awaitable<void> SimulatedConnection::Serve(std::shared_ptr<SimulatedConnection> connection,
                                                 ReplicaLinkObserver& observer) {
  SimulatedConnection& self = *connection;
  const std::optional<FromReplica> first = co_await self.Next();
  if (!first || !first->has_hello()) co_return;
  const std::string attempt_id = first->hello().attempt_id();
  const Status accepted = observer.OnHello(connection, first->hello());
  if (!accepted) co_return self.Close();
  self.is_accepted_ = true;
  while (!self.is_closed()) {
    std::optional<FromReplica> frame = co_await self.Next();
    if (!frame || self.is_closed()) break;
    co_await observer.OnFrame(connection, attempt_id, *std::move(frame));
  }
  self.Close();
  observer.OnClosed(&self, attempt_id);
}

/// The next frame from the supervisor; empty: there will be none.
asio::awaitable<std::optional<FromReplica>> SimulatedConnection::Next() {
  while (written_.empty() && !is_closed() && !is_dropped_) {
    wake_.Reset();
    co_await wake_.Wait();
  }
  if (is_closed() || written_.empty()) co_return std::nullopt;
  if (const milliseconds delay = Delay(); delay.count() > 0) {
    asio::steady_timer timer(co_await asio::this_coro::executor, delay);
    co_await timer.async_wait(asio::use_awaitable);
    if (is_closed() || written_.empty()) co_return std::nullopt;
  }
  FromReplica frame = std::move(written_.front());
  written_.pop_front();
  co_return frame;
}

SimulatedConnection::Time SimulatedConnection::ArrivalTime() {
  last_arrival_ = std::max(last_arrival_, std::chrono::steady_clock::now() + Delay());
  return last_arrival_;
}

void SimulatedConnection::Send(ToReplica frame) {
  if (is_closed() || is_dropped_) return;
  arriving_.push_back({.frame = std::move(frame), .time = ArrivalTime()});
  if (on_arrival_) on_arrival_();
}

void SimulatedConnection::Close() {
  if (is_closed()) return;
  while (!arriving_.empty() && random_() % 4 == 0) arriving_.pop_back();  // not written to the socket yet
  closed_at_ = ArrivalTime();
  wake_.Set();
  if (on_arrival_) on_arrival_();
}

void SimulatedConnection::Write(FromReplica frame) {
  if (is_dropped_ || is_closed()) return;
  written_.push_back(std::move(frame));
  wake_.Set();
}

std::optional<ToReplica> SimulatedConnection::Read(Time now) {
  if (arriving_.empty() || arriving_.front().time > now) return std::nullopt;
  ToReplica frame = std::move(arriving_.front().frame);
  arriving_.pop_front();
  return frame;
}

bool SimulatedConnection::IsOver(Time now) const {
  return closed_at_ && arriving_.empty() && *closed_at_ <= now;
}

SimulatedConnection::Time SimulatedConnection::next_arrival() const {
  return arriving_.empty() ? closed_at_.value_or(Time::max()) : arriving_.front().time;
}

void SimulatedConnection::Drop(bool at_once) {
  on_arrival_ = nullptr;
  if (std::exchange(is_dropped_, true)) return;
  if (!written_.empty()) written_.resize(at_once ? 0 : random_() % (written_.size() + 1));
  wake_.Set();
}

}  // namespace trainyard::engine
