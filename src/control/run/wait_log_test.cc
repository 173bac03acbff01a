#include "control/run/wait_log.h"

#include "control/testing/world.h"

namespace trainyard::control {
namespace {

using jobs::Waiting;

class WaitLogTest : public World {
 protected:
  WaitLogTest() : log_(loop_.context.get_executor(), *logs_, std::chrono::milliseconds(1)) {
    job_.set_project("p");
    job_.set_uid(1);
    job_.mutable_job()->set_job_id("j");
    Spawn(log_.Run());
  }
  ~WaitLogTest() override { clients_.reset(); }  // destroyed before what its task uses

  std::optional<SysTime> Look(const std::optional<Waiting>& waiting) {
    return log_.Look(job_, waiting, clock_.Now());
  }
  std::vector<std::string> Said() {
    EXPECT_TRUE(Await(log_.Flush(std::chrono::seconds(10))));
    return Lines("j", "service");
  }
  static Waiting For(std::string cause, std::string reason) {
    return {.cause = std::move(cause), .reason = std::move(reason), .unblock = "Soon."};
  }

  v1::JobRecord job_;
  WaitLog log_;
};

TEST_F(WaitLogTest, ShortWaitsAreNotSaid) {
  EXPECT_EQ(Look(For("shortage", "a.")), clock_.Now() + WaitLog::kSaidAfter);
  EXPECT_EQ(Look(std::nullopt), std::nullopt);
  clock_.Advance(WaitLog::kSaidAfter);
  EXPECT_EQ(Look(For("shortage", "a.")), clock_.Now() + WaitLog::kSaidAfter) << "it is another wait";
  EXPECT_THAT(Said(), IsEmpty());
}

TEST_F(WaitLogTest, EachReasonOnceAndOneKindOnceAMinute) {
  Look(For("shortage", "a."));
  clock_.Advance(WaitLog::kSaidAfter);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Look(For("shortage", "a.")), std::nullopt);
  EXPECT_EQ(Look(For("shortage", "b.")), clock_.Now() + WaitLog::kSaidAgainAfter);
  EXPECT_THAT(Said(), ElementsAre("a. Soon."));
  clock_.Advance(WaitLog::kSaidAgainAfter);
  Look(For("shortage", "b."));
  Look(For("environment", "c."));
  clock_.Advance(WaitLog::kSaidAfter);
  Look(For("environment", "c."));
  EXPECT_THAT(Said(), ElementsAre("a. Soon.", "b. Soon.", "c. Soon."));
}

TEST_F(WaitLogTest, ATurnIsSaidOnceHoweverTheLineMoves) {
  Look(For(jobs::kTurn, "3 before it."));
  clock_.Advance(WaitLog::kSaidAfter);
  Look(For(jobs::kTurn, "2 before it."));
  clock_.Advance(WaitLog::kSaidAgainAfter);
  EXPECT_EQ(Look(For(jobs::kTurn, "1 before it.")), std::nullopt);
  EXPECT_THAT(Said(), ElementsAre("2 before it. Soon."));
}

TEST_F(WaitLogTest, AnotherServerGoesOnWhereTheFormerEnded) {
  for (const char* reason : {"a.", "b."}) {
    WaitLog log(loop_.context.get_executor(), *logs_, std::chrono::milliseconds(1));
    TaskGroup tasks(loop_.context.get_executor());
    tasks.Spawn(log.Run());
    log.Look(job_, For("shortage", reason), clock_.Now());
    log.Look(job_, For("shortage", reason), clock_.Now() + WaitLog::kSaidAfter);
    EXPECT_TRUE(Await(log.Flush(std::chrono::seconds(10))));
  }
  EXPECT_THAT(Said(), ElementsAre("a. Soon.", "b. Soon."));
}

TEST_F(WaitLogTest, AFullDiskIsWaitedOut) {
  logs_->full = true;
  Look(For("shortage", "a."));
  clock_.Advance(WaitLog::kSaidAfter);
  Look(For("shortage", "a."));
  ASSERT_TRUE(RunUntil([this] { return logs_->refused > 1; }));
  logs_->full = false;
  EXPECT_THAT(Said(), ElementsAre("a. Soon."));
}

}  // namespace
}  // namespace trainyard::control
