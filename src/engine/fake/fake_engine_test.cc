#include "engine/fake/fake_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

namespace asio = boost::asio;

/// Opens each barrier at once and dismisses each end.
struct SimpleServer final : ReplicaLinkObserver {
  Status OnHello(std::shared_ptr<ReplicaLink>, const FromReplica::Hello& hello) override {
    events.push_back("hello " + replica::v1::Phase_Name(hello.phase()));
    return {};
  }
  asio::awaitable<void> OnFrame(std::shared_ptr<ReplicaLink> link, std::string, FromReplica frame) override {
    ToReplica answer;
    if (frame.has_phase_changed()) {
      events.push_back(replica::v1::Phase_Name(frame.phase_changed().phase()));
      if (frame.phase_changed().phase() == replica::v1::READY) answer.mutable_cluster();
    } else if (frame.has_log()) {
      events.push_back("line " + std::to_string(frame.log().first_line()));
      answer.mutable_log_ack()->set_next_line(frame.log().first_line() + 1);
    } else {
      events.push_back("exit " + ExitRecord::Cause_Name(frame.exit().cause()));
      answer.mutable_dismiss();
    }
    link->Send(std::move(answer));
    co_return;
  }
  void OnClosed(const ReplicaLink*, const std::string&) override { events.emplace_back("closed"); }
  std::vector<std::string> events;
};

class FakeEngineTest : public testing::Test {
 protected:
  FakeEngineTest() {
    engine_.Attach(server_);
    engine_.SetOnGone([this](const std::string& id) { gone_.push_back(id); });
    manifest_.set_attempt_id("1-master-replica-0-1");
  }
  bool RunUntilGone() {
    return loop_.RunUntil([this] { return !gone_.empty() && server_.events.back() == "closed"; });
  }

  Loop loop_;
  SimpleServer server_;
  std::vector<std::string> gone_;
  Manifest manifest_;
  FakeEngine engine_{loop_.context.get_executor()};
};

using Events = std::vector<std::string>;

TEST_F(FakeEngineTest, PlaysAWholeLife) {
  engine_.SetScript([](const Manifest&) { return FakeScript{.lines = {"a", "b"}}; });
  ASSERT_TRUE(loop_.Run(engine_.Start(manifest_)).has_value());
  EXPECT_EQ(loop_.Run(engine_.Start(manifest_)).error().code, Code::kAlreadyExists);
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(server_.events,
            (Events{"hello PREPARING", "READY", "RUNNING", "line 0", "line 1", "exit EXITED", "closed"}));
  EXPECT_EQ(loop_.Run(engine_.Inspect(manifest_)), Liveness::kEnded);
  EXPECT_EQ(loop_.Run(engine_.Collect(manifest_, 1))->chunks.size(), 1U);
  ASSERT_TRUE(loop_.Run(engine_.Remove(manifest_)).has_value());
  EXPECT_EQ(loop_.Run(engine_.Inspect(manifest_)), Liveness::kAbsent);
}

TEST_F(FakeEngineTest, CanBeLostAndCanComeBack) {
  engine_.SetScript([](const Manifest&) { return FakeScript{.exit = std::nullopt}; });
  ASSERT_TRUE(loop_.Run(engine_.Start(manifest_)).has_value());
  ASSERT_TRUE(
      loop_.RunUntil([this] { return !server_.events.empty() && server_.events.back() == "RUNNING"; }));
  engine_.Reconnect(manifest_.attempt_id());
  ASSERT_TRUE(loop_.RunUntil([this] { return server_.events.size() == 6; }));
  EXPECT_THAT(server_.events, testing::IsSupersetOf({"closed", "hello RUNNING"}));
  engine_.Lose(manifest_.attempt_id());
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(loop_.Run(engine_.Inspect(manifest_)), Liveness::kLost);
  EXPECT_EQ(loop_.Run(engine_.Collect(manifest_, 0))->exit.cause(), ExitRecord::LOST);
}

}  // namespace
}  // namespace trainyard::engine
