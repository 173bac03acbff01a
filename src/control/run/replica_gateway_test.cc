#include "control/run/replica_gateway.h"

#include "control/run/manifest.h"
#include "control/testing/world.h"

namespace trainyard::control {
namespace {

using engine::FromReplica;

/// The test acts as the supervisor of a job's only replica.
class ReplicaGatewayTest : public World {
 protected:
  void SetUp() override {
    replicas_->SetScript([](const Manifest&) { return FakeScript{.lines = {}, .exit = std::nullopt}; });
    ASSERT_TRUE(Create(MakeJob("j")));
    ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  }
  std::shared_ptr<RecordingLink> Connect() {
    auto link = std::make_shared<RecordingLink>();
    FromReplica::Hello hello;
    hello.set_attempt_id(kAttempt);
    hello.set_token(AttemptToken(settings_, kAttempt));
    hello.set_phase(replica::v1::RUNNING);
    EXPECT_TRUE(service_->gateway().OnHello(link, hello));
    return link;
  }
  void Send(const std::shared_ptr<RecordingLink>& link, FromReplica frame) {
    auto send = [](ReplicaGateway& gateway, std::shared_ptr<RecordingLink> to,
                   FromReplica one) -> boost::asio::awaitable<bool> {
      co_await gateway.OnFrame(to, kAttempt, std::move(one));
      co_return true;
    };
    Await(send(service_->gateway(), link, std::move(frame)));
  }
  static FromReplica Line(std::int64_t number, const std::string& text) {
    FromReplica frame;
    replica::v1::LogLines lines;
    const auto stamp = static_cast<std::uint64_t>(2 * number + 1);
    lines.add_line()->set_stamp(stamp);
    lines.mutable_line(0)->set_text(text);
    frame.mutable_log()->set_first_line(number);
    frame.mutable_log()->set_line_count(1);
    frame.mutable_log()->set_first_stamp(stamp);
    frame.mutable_log()->set_last_stamp(stamp);
    frame.mutable_log()->set_lines(lines.SerializeAsString());
    return frame;
  }
  static FromReplica End(std::int64_t lines) {
    FromReplica frame;
    *frame.mutable_exit() = Exit(0);
    frame.mutable_exit()->set_log_lines(lines);
    return frame;
  }
  std::vector<std::string> Texts() { return Lines("j", "master-replica-0"); }

  static constexpr const char* kAttempt = "1-master-replica-0-1";
};

TEST_F(ReplicaGatewayTest, BehindAChunkThatIsNotStoredNothingIsTaken) {
  auto link = Connect();
  Send(link, Line(0, "a"));
  logs_->refuse_next = 1;
  Send(link, Line(1, "b"));
  EXPECT_TRUE(link->closed);
  Send(link, Line(2, "c"));
  Send(link, End(3));
  EXPECT_THAT(Texts(), ElementsAre("a"));
  EXPECT_EQ(Get("j").state(), Job::RUNNING);
  link = Connect();
  Send(link, Line(1, "b"));
  Send(link, Line(2, "c"));
  Send(link, End(3));
  ASSERT_TRUE(WaitForState("j", Job::SUCCEEDED));
  EXPECT_THAT(Texts(), ElementsAre("a", "b", "c"));
}

TEST_F(ReplicaGatewayTest, MissingLinesAreReplacedAtTheBeginningOfAConnectionOnly) {
  auto link = Connect();
  Send(link, Line(0, "a"));
  Send(link, Line(2, "c"));
  EXPECT_TRUE(link->closed);
  EXPECT_THAT(Texts(), ElementsAre("a"));
  link = Connect();
  Send(link, Line(2, "c"));
  EXPECT_FALSE(link->closed);
  EXPECT_THAT(Texts(), ElementsAre("a", HasSubstr("Line 2 is not in this log"), "c"));
}

TEST_F(ReplicaGatewayTest, OfAConnectionThatWasReplacedNothingIsTaken) {
  auto old = Connect();
  auto link = Connect();
  Send(old, Line(1, "b"));
  EXPECT_TRUE(old->closed);
  EXPECT_THAT(Texts(), IsEmpty());
  Send(link, Line(0, "a"));
  Send(link, Line(1, "b"));
  EXPECT_THAT(Texts(), ElementsAre("a", "b"));
}

/// A chunk is being stored when the supervisor connects again.
TEST_F(ReplicaGatewayTest, AFailureOfAFormerConnectionIsNotThatOfTheNext) {
  auto old = Connect();
  logs_->refuse_next = 1;
  auto send = [](ReplicaGateway& gateway, std::shared_ptr<RecordingLink> to,
                 FromReplica one) -> boost::asio::awaitable<void> {
    co_await gateway.OnFrame(to, kAttempt, std::move(one));
  };
  Spawn(send(service_->gateway(), old, Line(0, "a")));
  ASSERT_TRUE(RunUntil([this] { return logs_->refused == 1; }));
  auto link = Connect();
  ASSERT_TRUE(RunUntil([&old] { return old->closed; }));
  Send(link, Line(0, "a"));
  Send(link, Line(1, "b"));
  EXPECT_FALSE(link->closed);
  EXPECT_THAT(Texts(), ElementsAre("a", "b"));
}

TEST_F(ReplicaGatewayTest, OfAnAttemptWhoseEndIsRecordedNothingIsTaken) {
  replicas_->Lose(kAttempt);
  ASSERT_TRUE(RunUntil([this] { return replicas_->started().size() == 2; }));
  auto link = Connect();
  Send(link, Line(0, "late"));
  ASSERT_FALSE(link->sent.empty());
  EXPECT_EQ(link->sent.back().log_ack().next_line(), 1) << "so that its supervisor can end";
  Send(link, End(3));
  EXPECT_TRUE(link->sent.back().has_dismiss());
  EXPECT_THAT(Texts(), IsEmpty());
  EXPECT_EQ(Get("j").state(), Job::RUNNING);
}

TEST_F(ReplicaGatewayTest, LinesThatAreLostAreSaidAlsoOfAJobThatSucceeds) {
  auto link = Connect();
  Send(link, Line(0, "a"));
  Send(link, End(4));
  ASSERT_TRUE(WaitForState("j", Job::SUCCEEDED));
  EXPECT_THAT(Texts(), ElementsAre("a", HasSubstr("Lines 2 to 4 of this replica's log are lost")));
  EXPECT_THAT(Get("j").error_message(), HasSubstr("The log of the job is not complete"));
}

TEST_F(ReplicaGatewayTest, LinesThatAreLostAreSaidOfWhatIsCollected) {
  KillServer();
  ExitRecord exit = Exit(0);
  exit.set_log_lines(2);
  replicas_->End(kAttempt, std::move(exit));
  replicas_->Lose(kAttempt);
  StartServer();
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(Texts(), ElementsAre(HasSubstr("Lines 1 to 2 of this replica's log are lost")));
}

}  // namespace
}  // namespace trainyard::control
