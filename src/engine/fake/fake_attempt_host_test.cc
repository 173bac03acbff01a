#include "engine/fake/fake_attempt_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/attempt_host_conformance.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

namespace asio = boost::asio;

/// A server that opens each barrier at once and dismisses each replica that has ended.
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

class FakeHostWorld : public testing::Test {
 protected:
  FakeHostWorld() {
    host_.Attach(server_);
    host_.SetScript([](const Manifest&) { return FakeScript{.exit = std::nullopt}; });
  }
  Loop& loop() { return loop_; }
  AttemptHost& host() { return host_; }
  static Manifest Order() {
    Manifest order;
    order.set_attempt_id(kConformanceAttempt);
    order.set_job_id("census");
    return order;
  }
  static Slot slot() {
    Slot slot;
    slot.mutable_devices()->add_gpus("0");
    return slot;
  }
  static AttemptRef ref() { return {.id = kConformanceAttempt}; }
  bool LetEnd() {
    const auto runs = [this] { return std::ranges::find(server_.events, "RUNNING") != server_.events.end(); };
    if (!loop_.RunUntil(runs)) return false;
    ExitRecord exit;
    exit.set_exit_code(4);
    host_.End(kConformanceAttempt, exit);
    return loop_.RunUntil([this] { return server_.events.back() == "closed"; });
  }
  void Restart() { host_.Reconnect(kConformanceAttempt); }

  Loop loop_;
  SimpleServer server_;
  FakeAttemptHost host_{loop_.context.get_executor()};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Fake, AttemptHostConformance, FakeHostWorld);

class FakeAttemptHostTest : public testing::Test {
 protected:
  FakeAttemptHostTest() {
    host_.Attach(server_);
    host_.SetOnGone([this](const std::string& id) { gone_.push_back(id); });
    manifest_.set_attempt_id("1-master-replica-0-1");
  }
  bool RunUntilGone() {
    return loop_.RunUntil([this] { return !gone_.empty() && server_.events.back() == "closed"; });
  }

  Loop loop_;
  SimpleServer server_;
  std::vector<std::string> gone_;
  Manifest manifest_;
  AttemptRef ref_{.id = "1-master-replica-0-1"};
  FakeAttemptHost host_{loop_.context.get_executor()};
};

using Events = std::vector<std::string>;

TEST_F(FakeAttemptHostTest, PlaysAWholeLife) {
  host_.SetScript([](const Manifest&) { return FakeScript{.lines = {"a", "b"}}; });
  ASSERT_TRUE(loop_.Run(host_.Start(manifest_, {})).has_value());
  EXPECT_EQ(loop_.Run(host_.Start(manifest_, {})).error().code, Code::kAlreadyExists);
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(server_.events,
            (Events{"hello PREPARING", "READY", "RUNNING", "line 0", "line 1", "exit EXITED", "closed"}));
  EXPECT_EQ(loop_.Run(host_.Inspect(ref_)), Inspection{AttemptState::kEnded});
  EXPECT_EQ(loop_.Run(host_.Collect(ref_, 1))->chunks.size(), 1U);
  ASSERT_TRUE(loop_.Run(host_.Forget(ref_)).has_value());
  EXPECT_EQ(loop_.Run(host_.Inspect(ref_)), Inspection{AttemptState::kAbsent});
}

TEST_F(FakeAttemptHostTest, CanBeLostAndCanComeBack) {
  host_.SetScript([](const Manifest&) { return FakeScript{.exit = std::nullopt}; });
  ASSERT_TRUE(loop_.Run(host_.Start(manifest_, {})).has_value());
  ASSERT_TRUE(
      loop_.RunUntil([this] { return !server_.events.empty() && server_.events.back() == "RUNNING"; }));
  host_.Reconnect(manifest_.attempt_id());
  ASSERT_TRUE(loop_.RunUntil([this] { return server_.events.size() == 6; }));
  EXPECT_THAT(server_.events, testing::IsSupersetOf({"closed", "hello RUNNING"}));
  host_.Lose(manifest_.attempt_id());
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(loop_.Run(host_.Inspect(ref_)), Inspection{AttemptState::kLost});
  EXPECT_EQ(loop_.Run(host_.Collect(ref_, 0))->exit.cause(), ExitRecord::LOST);
}

}  // namespace
}  // namespace trainyard::engine
