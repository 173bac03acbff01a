#pragma once

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>
#include <string>
#include <utility>

#include "net/http/transport.h"

namespace trainyard::grpc {

/// A client that sends given bytes, `step` at a time, waits for some turns of the loop and closes. What is
/// sent to it is appended to `received`, which outlives it.
class ScriptedTransport final : public http::Transport {
 public:
  ScriptedTransport(std::string script, std::size_t step, std::string& received)
      : script_(std::move(script)), step_(step), received_(received) {}

  boost::asio::awaitable<Status> Handshake() override { co_return Status(); }
  boost::asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    constexpr int kTurns = 8;  // in which handlers run and answers are sent
    const int turns = begin_ == script_.size() ? kTurns : 1;
    for (int i = 0; i < turns; ++i) co_await boost::asio::post(boost::asio::use_awaitable);
    const std::size_t count = closed_ ? 0 : std::min({buffer.size(), step_, script_.size() - begin_});
    if (count > 0) std::memcpy(buffer.data(), script_.data() + begin_, count);
    begin_ += count;
    co_return count;
  }
  boost::asio::awaitable<Result<std::size_t>> WriteSome(std::string_view first,
                                                        std::string_view second) override {
    if (closed_) co_return std::unexpected(Unavailable("closed"));
    received_.append(first).append(second);
    co_return first.size() + second.size();
  }
  boost::asio::awaitable<Result<std::size_t>> SendFileSome(int, std::uint64_t, std::size_t) override {
    co_return 0U;
  }
  boost::asio::awaitable<void> ShutdownWrite() override { co_return; }
  void Cancel() override {}
  void Close() override { closed_ = true; }
  [[nodiscard]] std::string_view scheme() const noexcept override { return "https"; }

 private:
  std::string script_;
  std::size_t step_;
  std::string& received_;
  std::size_t begin_ = 0;
  bool closed_ = false;
};

}  // namespace trainyard::grpc
