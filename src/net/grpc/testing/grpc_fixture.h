#pragma once

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "net/grpc/grpc_session.h"
#include "net/grpc/grpc_text.h"
#include "net/grpc/testing/test_client.h"

namespace trainyard::grpc {

/// A served connection and its client, over a socket pair on one loop.
class GrpcTest : public testing::Test {
 protected:
  GrpcTest() {
    options_.handler = [this](UnaryCall& call) { return Handle(call); };
  }
  void SetUp() override {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    channel_ = std::make_shared<http::Channel>(loop_.get_executor(), TransportOf(pair[0]));
    client_.emplace(loop_.get_executor(), TransportOf(pair[1]));
  }
  void TearDown() override { tasks_.reset(); }

  /// Paths: /echo answers the message; /wait waits until `release_` is set; /stubborn does so even if it is
  /// cancelled; /fail fails with details; /throw throws; /large answers 3,000,000 bytes.
  boost::asio::awaitable<Reply> Handle(UnaryCall& call) {
    last_ = call;
    if (call.path == "/stubborn")
      co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
    if (call.path == "/wait" || call.path == "/stubborn") {
      ++waiting_;
      const Count count{*this};
      co_await release_.Wait();
    }
    if (call.path == "/throw") throw std::runtime_error("from a library");
    if (call.path == "/fail")
      co_return Reply{.status = 9, .text = "not \xe2\x9c\x93 yet", .details = "\1\2\xff"};
    if (call.path == "/large") co_return Reply{.message = std::string(3'000'000, 'l')};
    co_return Reply{.message = "echo " + call.message};
  }

  void Start() {
    tasks_->Spawn(ServeIt());
    tasks_->Spawn(client_->Read());
    tasks_->Spawn(client_->Write());
  }
  std::int32_t Ask(std::string path, std::string message = "",
                   std::vector<std::pair<std::string, std::string>> fields = {}) {
    return client_->Ask(
        {.path = std::move(path), .body = PrintMessage(message), .fields = std::move(fields)});
  }
  /// Waits for the end of the stream.
  const TestAnswer& AnswerTo(std::int32_t id) {
    EXPECT_TRUE(RunUntil([&] { return client_->IsClosed(id); }));
    return client_->At(id);
  }
  /// The status of a call: "8 why".
  std::string StatusOf(std::int32_t id) {
    const TestAnswer& answer = AnswerTo(id);
    const auto field = [&](const char* name) {
      const auto found = answer.trailers.find(name);
      return found == answer.trailers.end() ? std::string() : found->second;
    };
    return field("grpc-status") + " " + ParseStatusText(field("grpc-message"));
  }
  template <class Condition>
  bool RunUntil(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < end)
      loop_.run_one_for(std::chrono::milliseconds(20));
    return condition();
  }
  bool RunUntilServed() {
    return RunUntil([this] { return served_; });
  }

  boost::asio::io_context loop_;
  GrpcOptions options_;
  Event release_{loop_.get_executor()};
  int waiting_ = 0;
  int ended_ = 0;  ///< of those that waited, also the cancelled ones
  std::optional<UnaryCall> last_;
  std::shared_ptr<http::Channel> channel_;
  std::optional<TestClient> client_;
  bool served_ = false;
  std::optional<TaskGroup> tasks_{std::in_place, loop_.get_executor()};

 private:
  struct Count {
    GrpcTest& test;
    ~Count() { ++test.ended_; }
  };
  std::unique_ptr<http::Transport> TransportOf(int descriptor) {
    http::StreamSocket socket(loop_);
    socket.assign(boost::asio::generic::stream_protocol(AF_UNIX, SOCK_STREAM), descriptor);
    return http::MakePlainTransport(std::move(socket));
  }
  boost::asio::awaitable<void> ServeIt() {
    co_await Serve(channel_, options_);
    served_ = true;
    channel_->Close();
  }
};

}  // namespace trainyard::grpc
