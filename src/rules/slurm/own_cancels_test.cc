#include "rules/slurm/own_cancels.h"

#include <gtest/gtest.h>

#include <vector>

namespace trainyard::slurm {
namespace {

using std::chrono::minutes;

class OwnCancelsTest : public testing::Test {
 protected:
  void Note(std::int64_t id) { cancels_.Note(std::vector{id}, now_); }
  [[nodiscard]] JobState Seen(std::int64_t id, JobState state) const {
    std::vector<ListedJob> jobs{{.id = id, .state = state}};
    cancels_.TellApart(jobs);
    return jobs.front().state;
  }

  SysTime now_{std::chrono::hours(1'000)};
  OwnCancels cancels_;
};

TEST_F(OwnCancelsTest, WhatWeCancelledIsJustOver) {
  Note(7);
  EXPECT_EQ(Seen(7, JobState::kCancelled), JobState::kOver);
  EXPECT_EQ(Seen(7, JobState::kNodeLost), JobState::kNodeLost) << "it ended before the cancellation came";
  EXPECT_EQ(Seen(8, JobState::kCancelled), JobState::kCancelled) << "somebody else's cancellation";
}

TEST_F(OwnCancelsTest, KeepsForAnHourAndNotForEver) {
  Note(7);
  now_ += minutes(50);
  Note(8);
  now_ += minutes(20);
  Note(9);
  EXPECT_EQ(Seen(8, JobState::kCancelled), JobState::kOver) << "after 20 minutes";
  now_ += minutes(61);
  Note(10);
  EXPECT_EQ(Seen(7, JobState::kCancelled), JobState::kCancelled) << "its id is another's by now";
  EXPECT_EQ(Seen(9, JobState::kCancelled), JobState::kOver) << "after 61 minutes";
}

}  // namespace
}  // namespace trainyard::slurm
