#include "engine/agent/testing/agent_line.h"

#include <algorithm>
#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>
#include <string>
#include <utility>

#include "base/async/event.h"

namespace trainyard::agent {

namespace {

using boost::asio::awaitable;

const Error kOver = Unavailable("the connection is over");

}  // namespace

struct AgentLine::State {
  struct Direction {
    explicit Direction(const boost::asio::any_io_executor& loop) : changed(loop) {}
    std::string bytes;
    bool has_ended = false;
    Event changed;
  };
  State(boost::asio::any_io_executor loop, std::function<std::chrono::milliseconds()> used_delay)
      : towards{Direction(loop), Direction(loop)}, delay(std::move(used_delay)) {}

  void Cut() {
    is_cut = true;
    for (Direction& direction : towards) direction.changed.Set();
  }

  std::array<Direction, 2> towards;  ///< by the end that reads
  std::function<std::chrono::milliseconds()> delay;
  bool is_cut = false;
  bool is_silent = false;
};

namespace {

class End final : public http::Transport {
 public:
  End(std::shared_ptr<AgentLine::State> line, int end)
      : line_(std::move(line)), end_(static_cast<std::size_t>(end)) {}
  ~End() override { Close(); }

  awaitable<Status> Handshake() override { co_return Status(); }

  awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    const std::shared_ptr<AgentLine::State> line = line_;
    AgentLine::State::Direction& from = line->towards[end_];
    for (;;) {
      if (is_closed_ || (line->is_cut && !line->is_silent)) co_return std::unexpected(kOver);
      if (!from.bytes.empty() && !line->is_silent) break;
      if (from.has_ended && !line->is_silent) co_return std::size_t{0};
      from.changed.Reset();
      co_await from.changed.Wait();
    }
    const std::chrono::milliseconds delay = line->delay();
    if (delay.count() > 0) {
      boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, delay);
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    if (is_closed_ || line->is_cut) co_return std::unexpected(kOver);
    const std::size_t size = std::min(buffer.size(), from.bytes.size());
    std::memcpy(buffer.data(), from.bytes.data(), size);
    from.bytes.erase(0, size);
    co_return size;
  }

  awaitable<Result<std::size_t>> WriteSome(std::string_view first, std::string_view second) override {
    if (is_closed_ || (line_->is_cut && !line_->is_silent)) co_return std::unexpected(kOver);
    AgentLine::State::Direction& to = line_->towards[1 - end_];
    if (!line_->is_silent) to.bytes.append(first).append(second);
    to.changed.Set();
    co_return first.size() + second.size();
  }

  awaitable<Result<std::size_t>> SendFileSome(int, std::uint64_t, std::size_t) override {
    co_return std::unexpected(kOver);
  }

  awaitable<void> ShutdownWrite() override {
    line_->towards[1 - end_].has_ended = true;
    line_->towards[1 - end_].changed.Set();
    co_return;
  }

  void Cancel() override { Close(); }
  void Close() override {
    if (std::exchange(is_closed_, true)) return;
    line_->towards[end_].changed.Set();
    line_->Cut();
  }
  [[nodiscard]] std::string_view scheme() const noexcept override { return "https"; }

 private:
  std::shared_ptr<AgentLine::State> line_;
  std::size_t end_;
  bool is_closed_ = false;
};

}  // namespace

AgentLine::AgentLine(boost::asio::any_io_executor loop, std::function<std::chrono::milliseconds()> delay)
    : state_(std::make_shared<State>(std::move(loop), std::move(delay))) {}

std::unique_ptr<http::Transport> AgentLine::TakeEnd(int end) { return std::make_unique<End>(state_, end); }

void AgentLine::Cut() { state_->Cut(); }

void AgentLine::FallSilent() { state_->is_silent = true; }

}  // namespace trainyard::agent
