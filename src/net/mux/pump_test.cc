#include "net/mux/pump.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <vector>

#include "base/async/task_group.h"

namespace trainyard::mux {
namespace {

/// program_ <-> Pump <-> stream <-> stream <-> Pump <-> server_
class PumpTest : public testing::Test {
 protected:
  PumpTest() {
    const auto [near, far] = Pair();
    opener_ = Make(near, Session::Side::kOpens, {});
    Session::Options options;
    options.on_stream = [this](const std::string&, std::shared_ptr<Stream> stream) {
      const auto [ours, theirs] = Pair();
      server_ = UniqueFd(ours);
      tasks_.Spawn(Pump(std::move(stream), UniqueFd(theirs)));
    };
    opened_ = Make(far, Session::Side::kIsOpened, std::move(options));
    const auto [ours, theirs] = Pair();
    program_ = UniqueFd(ours);
    tasks_.Spawn(Pump(opener_->Open("/x"), UniqueFd(theirs)));
    EXPECT_TRUE(RunUntil([this] { return bool(server_); }));
  }
  static std::pair<int, int> Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    return {ends[0], ends[1]};
  }
  std::unique_ptr<Session> Make(int end, Session::Side side, Session::Options options) {
    http::StreamSocket socket(loop_);
    socket.assign(asio::generic::stream_protocol(AF_UNIX, SOCK_STREAM), end);
    auto session = std::make_unique<Session>(
        loop_.get_executor(), http::MakePlainTransport(std::move(socket)), side, std::move(options));
    tasks_.Spawn(Run(*session));
    return session;
  }
  static asio::awaitable<void> Run(Session& session) { std::ignore = co_await session.Run(); }
  template <class Condition>
  bool RunUntil(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < end)
      loop_.run_one_for(std::chrono::milliseconds(20));
    return condition();
  }
  /// Reads everything until the other side closes.
  std::string ReadAll(int socket) {
    std::string all;
    bool ended = false;
    EXPECT_TRUE(RunUntil([&] {
      std::vector<char> piece(1 << 20);
      const ssize_t size = ::read(socket, piece.data(), piece.size());
      if (size > 0) all.append(piece.data(), static_cast<std::size_t>(size));
      ended = size == 0;
      return ended;
    }));
    return all;
  }

  asio::io_context loop_;
  std::unique_ptr<Session> opener_;
  std::unique_ptr<Session> opened_;
  UniqueFd program_;
  UniqueFd server_;
  TaskGroup tasks_{loop_.get_executor()};
};

TEST_F(PumpTest, ADirectionThatIsClosedLeavesTheOtherOne) {
  ASSERT_EQ(::write(program_.get(), "question", 8), 8);
  ::shutdown(program_.get(), SHUT_WR);
  EXPECT_EQ(ReadAll(server_.get()), "question");
  ASSERT_EQ(::write(server_.get(), "answer", 6), 6);
  server_ = UniqueFd();
  EXPECT_EQ(ReadAll(program_.get()), "answer");
}

TEST_F(PumpTest, WhoReadsSlowlyGetsEverything) {
  const std::string much(3'000'000, 'x');
  std::size_t written = 0;
  std::string got;
  ASSERT_TRUE(RunUntil([&] {
    const ssize_t size = ::write(program_.get(), much.data() + written, much.size() - written);
    if (size > 0) written += static_cast<std::size_t>(size);
    std::vector<char> piece(100'000);
    const ssize_t read = ::read(server_.get(), piece.data(), piece.size());
    if (read > 0) got.append(piece.data(), static_cast<std::size_t>(read));
    return written == much.size();
  }));
  ::shutdown(program_.get(), SHUT_WR);
  got += ReadAll(server_.get());
  EXPECT_EQ(got, much);
}

TEST_F(PumpTest, ALostConnectionEndsBothSides) {
  opener_->Close();
  EXPECT_EQ(ReadAll(program_.get()), "");
  EXPECT_EQ(ReadAll(server_.get()), "");
}

TEST_F(PumpTest, AProgramThatGoesAwayIsSeen) {
  program_ = UniqueFd();
  EXPECT_EQ(ReadAll(server_.get()), "");
}

}  // namespace
}  // namespace trainyard::mux
