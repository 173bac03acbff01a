#include "engine/routed_attempt_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/fake/fake_attempt_host.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

class RoutedAttemptHostTest : public testing::Test {
 protected:
  RoutedAttemptHostTest() {
    here_.Leave(local_, AttemptState::kEnded, {.job_id = "here", .devices = {}});
    away_.Leave(remote_, AttemptState::kLost, {.job_id = "away", .devices = {}});
  }

  const AttemptRef local_{.id = "7-master-replica-0-1"};
  const AttemptRef remote_{.id = "8-master-replica-0-1", .node = "node1", .agent = "8-1-1/0"};
  Loop loop_;
  FakeAttemptHost here_{loop_.context.get_executor()};
  FakeAttemptHost away_{loop_.context.get_executor()};
  RoutedAttemptHost host_{here_, away_};
};

TEST_F(RoutedAttemptHostTest, AsksTheHostThatTheAgentNames) {
  EXPECT_EQ(loop_.Run(host_.Inspect(local_)).state, AttemptState::kEnded);
  EXPECT_EQ(loop_.Run(host_.Inspect(remote_)).state, AttemptState::kLost);
  EXPECT_EQ(loop_.Run(host_.HoldingOf(remote_)).value_or(AttemptHost::Holding{}).job_id, "away");
  AttemptRef elsewhere = remote_;
  elsewhere.agent.clear();
  EXPECT_EQ(loop_.Run(host_.Inspect(elsewhere)).state, AttemptState::kAbsent);
}

TEST_F(RoutedAttemptHostTest, ListsAndForgetsWhatBothHave) {
  EXPECT_THAT(loop_.Run(host_.List()).value_or(std::vector<AttemptRef>{}),
              testing::UnorderedElementsAre(local_, remote_));
  EXPECT_TRUE(loop_.Run(host_.Forget(remote_)));
  EXPECT_THAT(loop_.Run(host_.List()).value_or(std::vector<AttemptRef>{}), testing::ElementsAre(local_));
}

}  // namespace
}  // namespace trainyard::engine
