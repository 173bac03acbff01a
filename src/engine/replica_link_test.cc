#include "engine/replica_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/task_group.h"
#include "engine/testing/loop.h"
#include "programs/attempt/frame.h"

namespace trainyard::engine {
namespace {

namespace asio = boost::asio;
using Socket = asio::local::stream_protocol::socket;

/// The stream that http::Server hands over after the upgrade: here one end of a socket pair.
class SocketStream final : public http::ByteStream {
 public:
  explicit SocketStream(Socket socket) : socket_(std::move(socket)) {}
  asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    boost::system::error_code error;
    const std::size_t size = co_await socket_.async_read_some(
        asio::buffer(buffer.data(), buffer.size()), asio::redirect_error(asio::use_awaitable, error));
    const Error gone = Unavailable("gone");
    if (error && error != asio::error::eof) co_return std::unexpected(gone);
    co_return size;
  }
  asio::awaitable<Status> Write(std::string bytes) override {
    boost::system::error_code error;
    co_await asio::async_write(socket_, asio::buffer(bytes),
                               asio::redirect_error(asio::use_awaitable, error));
    const Error gone = Unavailable("gone");
    if (error) co_return std::unexpected(gone);
    co_return Status();
  }
  void Close() override { socket_.close(); }

 private:
  Socket socket_;
};

struct RecordingObserver final : ReplicaLinkObserver {
  Status OnHello(std::shared_ptr<ReplicaLink> link, const FromReplica::Hello& hello) override {
    events.push_back("hello " + hello.attempt_id());
    last_link = link;
    if (hello.token() != "secret") return std::unexpected(Error{Code::kUnauthenticated, "wrong token", {}});
    return {};
  }
  asio::awaitable<void> OnFrame(std::shared_ptr<ReplicaLink>, std::string attempt_id,
                                FromReplica frame) override {
    events.push_back("frame " + attempt_id + " " + std::to_string(frame.log().first_line()));
    if (frame.log().first_line() == close_at) last_link->Close();
    co_return;
  }
  void OnClosed(const ReplicaLink*, const std::string& attempt_id) override {
    events.push_back("closed " + attempt_id);
  }

  std::vector<std::string> events;
  std::int64_t close_at = -1;
  std::shared_ptr<ReplicaLink> last_link;
};

class ReplicaLinkTest : public testing::Test {
 protected:
  ReplicaLinkTest() {
    http::Request request;
    request.headers.Add("Upgrade", "trainyard-replica");
    auto response = loop_.Run(AttachHandler(observer_)(request));
    const auto& upgrade = std::get<http::UpgradeBody>(response.value().body);
    EXPECT_EQ(upgrade.protocol, "trainyard-replica");
    Socket server(loop_.context);
    asio::local::connect_pair(server, supervisor_);
    connections_.Spawn(upgrade.run(std::make_shared<SocketStream>(std::move(server))));
  }
  ~ReplicaLinkTest() override {
    supervisor_.close();
    EXPECT_TRUE(loop_.RunUntil([this] { return connections_.size() == 0; }));
  }
  void SendHello(const std::string& token) {
    FromReplica frame;
    frame.mutable_hello()->set_attempt_id("7-master-replica-0-1");
    frame.mutable_hello()->set_token(token);
    std::string bytes;
    replica::AppendFrame(frame, bytes);
    asio::write(supervisor_, asio::buffer(bytes));
  }
  bool WaitForEvents(std::size_t count) {
    return loop_.RunUntil([this, count] { return observer_.events.size() >= count; });
  }

  Loop loop_;
  RecordingObserver observer_;
  Socket supervisor_{loop_.context};
  TaskGroup connections_{loop_.context.get_executor()};
};

using Events = std::vector<std::string>;

TEST_F(ReplicaLinkTest, HandsFramesOverInOrder) {
  SendHello("secret");
  std::string bytes;
  for (int i = 0; i < 3; ++i) {
    replica::v1::LogChunk chunk;
    chunk.set_first_line(i);
    replica::AppendLogFrame(chunk.SerializeAsString(), bytes);
  }
  for (const char byte : bytes) asio::write(supervisor_, asio::buffer(&byte, 1));
  ASSERT_TRUE(WaitForEvents(4));
  supervisor_.close();
  ASSERT_TRUE(WaitForEvents(5));
  const std::string id = "7-master-replica-0-1";
  EXPECT_EQ(observer_.events, (Events{"hello " + id, "frame " + id + " 0", "frame " + id + " 1",
                                      "frame " + id + " 2", "closed " + id}));
}

TEST_F(ReplicaLinkTest, HandsNothingOverThatWasReadBeforeItWasClosed) {
  observer_.close_at = 0;
  std::string bytes;
  FromReplica hello;
  hello.mutable_hello()->set_attempt_id("7-master-replica-0-1");
  hello.mutable_hello()->set_token("secret");
  replica::AppendFrame(hello, bytes);
  for (int i = 0; i < 3; ++i) {
    replica::v1::LogChunk chunk;
    chunk.set_first_line(i);
    replica::AppendLogFrame(chunk.SerializeAsString(), bytes);
  }
  asio::write(supervisor_, asio::buffer(bytes));
  ASSERT_TRUE(WaitForEvents(3));
  const std::string id = "7-master-replica-0-1";
  EXPECT_EQ(observer_.events, (Events{"hello " + id, "frame " + id + " 0", "closed " + id}));
}

TEST_F(ReplicaLinkTest, SendsWhatIsQueued) {
  SendHello("secret");
  ASSERT_TRUE(WaitForEvents(1));
  for (int i = 0; i < 100; ++i) {
    ToReplica frame;
    frame.mutable_log_ack()->set_next_line(i);
    observer_.last_link->Send(frame);
  }
  replica::FrameReader frames;
  std::string_view content;
  std::array<char, 4096> buffer{};
  supervisor_.non_blocking(true);
  int received = 0;
  EXPECT_TRUE(loop_.RunUntil([&] {
    boost::system::error_code error;
    const std::size_t size = supervisor_.read_some(asio::buffer(buffer), error);
    if (!error) frames.Feed({buffer.data(), size});
    while (frames.Next(content).value()) {
      ToReplica frame;
      EXPECT_TRUE(frame.ParseFromString(std::string(content)));
      EXPECT_EQ(frame.log_ack().next_line(), received++);
    }
    return received == 100;
  }));
}

TEST_F(ReplicaLinkTest, RefusedHelloClosesTheConnection) {
  SendHello("wrong");
  EXPECT_TRUE(loop_.RunUntil([this] { return connections_.size() == 0; }));
  EXPECT_EQ(observer_.events, Events{"hello 7-master-replica-0-1"});
  observer_.last_link->Send({});  // harmless
}

TEST_F(ReplicaLinkTest, GarbageClosesTheConnection) {
  SendHello("secret");
  asio::write(supervisor_, asio::buffer(std::string("\xFF\xFF\xFF\xFF\xFF")));
  EXPECT_TRUE(loop_.RunUntil([this] { return connections_.size() == 0; }));
  EXPECT_EQ(observer_.events.back(), "closed 7-master-replica-0-1");
}

TEST_F(ReplicaLinkTest, AnythingBeforeHelloClosesTheConnection) {
  std::string bytes;
  replica::AppendFrame(FromReplica(), bytes);
  asio::write(supervisor_, asio::buffer(bytes));
  EXPECT_TRUE(loop_.RunUntil([this] { return connections_.size() == 0; }));
  EXPECT_TRUE(observer_.events.empty());
}

TEST_F(ReplicaLinkTest, TheObserverMayClose) {
  SendHello("secret");
  ASSERT_TRUE(WaitForEvents(1));
  observer_.last_link->Close();
  EXPECT_TRUE(loop_.RunUntil([this] { return connections_.size() == 0; }));
  EXPECT_EQ(observer_.events.back(), "closed 7-master-replica-0-1");
}

TEST_F(ReplicaLinkTest, EndOfTheServerEndsConnections) {
  SendHello("secret");
  ASSERT_TRUE(WaitForEvents(1));
  connections_.Cancel();
  EXPECT_TRUE(loop_.RunUntil([this] { return connections_.size() == 0; }));
  EXPECT_EQ(observer_.events.back(), "closed 7-master-replica-0-1");
}

TEST(AttachHandler, RefusesOtherProtocols) {
  Loop loop;
  RecordingObserver observer;
  http::Request request;
  request.headers.Add("Upgrade", "websocket");
  EXPECT_EQ(loop.Run(AttachHandler(observer)(request)).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainyard::engine
