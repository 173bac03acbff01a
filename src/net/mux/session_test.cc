#include "net/mux/session.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <optional>

#include "base/async/task_group.h"
#include "base/async/unique_fd.h"

namespace trainyard::mux {
namespace {

using asio::awaitable;
using std::chrono::milliseconds;

/// Two ends of a connection on one loop.
class MuxTest : public testing::Test {
 protected:
  void SetUp() override {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    opener_end_ = pair[0];
    opened_end_ = pair[1];
  }
  void TearDown() override { tasks_.reset(); }

  std::unique_ptr<http::Transport> TransportOf(int descriptor) {
    http::StreamSocket socket(loop_);
    socket.assign(asio::generic::stream_protocol(AF_UNIX, SOCK_STREAM), descriptor);
    return http::MakePlainTransport(std::move(socket));
  }
  void MakeOpener(Session::Options options = {}) {
    opener_ = std::make_unique<Session>(loop_.get_executor(), TransportOf(opener_end_), Session::Side::kOpens,
                                        std::move(options));
    tasks_->Spawn(RunIt(*opener_, opener_ending_));
  }
  void MakeOpened(Session::Options options = {}) {
    if (!options.on_stream) {
      options.on_stream = [this](std::string path, std::shared_ptr<Stream> stream) {
        came_[path] = std::move(stream);
        if (path.starts_with("/echo")) tasks_->Spawn(Echo(came_[path]));
      };
    }
    opened_ = std::make_unique<Session>(loop_.get_executor(), TransportOf(opened_end_),
                                        Session::Side::kIsOpened, std::move(options));
    tasks_->Spawn(RunIt(*opened_, opened_ending_));
  }
  static awaitable<void> RunIt(Session& session, std::optional<Ending>& ending) {
    ending = co_await session.Run();
  }
  static awaitable<void> Echo(std::shared_ptr<Stream> stream) {
    std::string buffer(1000, '\0');
    for (;;) {
      const Result<std::size_t> count = co_await stream->Read(buffer);
      if (!count) co_return;
      if (*count == 0) break;
      if (!co_await stream->Write(std::string_view(buffer).substr(0, *count))) co_return;
    }
    stream->CloseWrite();
  }
  static awaitable<void> WriteAll(std::shared_ptr<Stream> stream, std::string bytes, bool close) {
    (void)co_await stream->Write(bytes);
    if (close) stream->CloseWrite();
  }
  static awaitable<void> ReadAll(std::shared_ptr<Stream> stream, std::string& into, bool& ended) {
    std::string buffer(10'000, '\0');
    for (;;) {
      const Result<std::size_t> count = co_await stream->Read(buffer);
      if (!count || *count == 0) {
        ended = true;
        co_return;
      }
      into.append(buffer, 0, *count);
    }
  }
  template <class Condition>
  bool RunUntil(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < end) loop_.run_one_for(milliseconds(20));
    return condition();
  }

  asio::io_context loop_;
  int opener_end_ = -1;
  int opened_end_ = -1;
  std::map<std::string, std::shared_ptr<Stream>> came_;
  std::optional<Ending> opener_ending_;
  std::optional<Ending> opened_ending_;
  std::unique_ptr<Session> opener_;
  std::unique_ptr<Session> opened_;
  std::optional<TaskGroup> tasks_{std::in_place, loop_.get_executor()};
};

TEST_F(MuxTest, StreamsCarryBytesBothWays) {
  MakeOpener();
  MakeOpened();
  std::map<int, std::string> answers;
  std::map<int, bool> ended;
  for (int i = 0; i < 50; ++i) {
    const std::shared_ptr<Stream> stream = opener_->Open("/echo/" + std::to_string(i));
    tasks_->Spawn(
        WriteAll(stream, std::string(static_cast<std::size_t>(i) * 1000, 'x') + std::to_string(i), true));
    tasks_->Spawn(ReadAll(stream, answers[i], ended[i]));
  }
  ASSERT_TRUE(
      RunUntil([&] { return std::ranges::all_of(ended, [](const auto& one) { return one.second; }); }));
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(answers[i], std::string(static_cast<std::size_t>(i) * 1000, 'x') + std::to_string(i));
}

TEST_F(MuxTest, AStreamThatNobodyReadsHoldsUpNoOther) {
  MakeOpener();
  MakeOpened();
  std::vector<std::shared_ptr<Stream>> stuck;
  for (int i = 0; i < 100; ++i) {
    stuck.push_back(opener_->Open("/unread/" + std::to_string(i)));
    tasks_->Spawn(WriteAll(stuck.back(), std::string(1'000'000, 's'), false));
  }
  const std::shared_ptr<Stream> stream = opener_->Open("/echo");
  std::string answer;
  bool ended = false;
  tasks_->Spawn(WriteAll(stream, std::string(3'000'000, 'e'), true));
  tasks_->Spawn(ReadAll(stream, answer, ended));
  EXPECT_TRUE(RunUntil([&] { return ended; }));
  EXPECT_EQ(answer.size(), 3'000'000U);
}

TEST_F(MuxTest, AResetIsToldTheOtherSide) {
  MakeOpener();
  MakeOpened();
  const std::shared_ptr<Stream> stream = opener_->Open("/held");
  std::string got;
  bool ended = false;
  ASSERT_TRUE(RunUntil([&] { return came_.contains("/held"); }));
  tasks_->Spawn(ReadAll(stream, got, ended));
  came_.erase("/held");
  EXPECT_TRUE(RunUntil([&] { return ended; }));
}

TEST_F(MuxTest, TheEndOfTheConnectionEndsItsStreams) {
  MakeOpener();
  MakeOpened();
  const std::shared_ptr<Stream> stream = opener_->Open("/held");
  std::string got;
  bool ended = false;
  tasks_->Spawn(ReadAll(stream, got, ended));
  ASSERT_TRUE(RunUntil([&] { return came_.contains("/held"); }));
  opened_->Close();
  EXPECT_TRUE(RunUntil([&] { return ended && opener_ending_ && opened_ending_; }));
  EXPECT_EQ(opener_ending_, Ending::kClosed);
  EXPECT_EQ(opener_->Open("/more"), nullptr);
}

TEST_F(MuxTest, WhoSaysNothingIsGivenUpAndWhoAnswersIsNot) {
  MakeOpener({.ping_pause = milliseconds(20), .silence_max = milliseconds(200)});
  EXPECT_TRUE(RunUntil([&] { return opener_ending_.has_value(); }))
      << "the other end is a socket that nobody reads";
  EXPECT_EQ(opener_ending_, Ending::kSilent);
  SetUp();
  opener_ending_.reset();
  MakeOpener({.ping_pause = milliseconds(20), .silence_max = milliseconds(200)});
  MakeOpened();
  const auto later = std::chrono::steady_clock::now() + milliseconds(800);
  ASSERT_TRUE(RunUntil([&] { return std::chrono::steady_clock::now() > later; }));
  EXPECT_EQ(opener_ending_, std::nullopt);
}

TEST_F(MuxTest, GarbageIsNoConnection) {
  MakeOpened();
  const UniqueFd garbage(opener_end_);
  const std::string text = "GET / HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(100, '\x7f');
  ASSERT_GT(::write(garbage.get(), text.data(), text.size()), 0);
  EXPECT_TRUE(RunUntil([&] { return opened_ending_.has_value(); }));
  EXPECT_EQ(opened_ending_, Ending::kBroken);
}

}  // namespace
}  // namespace trainyard::mux
