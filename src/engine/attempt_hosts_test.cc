#include "engine/attempt_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/fake/fake_attempt_host.h"
#include "engine/testing/loop.h"

namespace trainyard::engine {
namespace {

class AttemptHostsTest : public testing::Test {
 protected:
  AttemptHostsTest() {
    here_.Leave(local_, AttemptState::kEnded, {.job_id = "here", .devices = {}});
    away_.Leave(remote_, AttemptState::kLost, {.job_id = "away", .devices = {}});
  }

  const AttemptRef local_{.id = "7-master-replica-0-1"};
  const AttemptRef remote_{.id = "8-master-replica-0-1", .node = "node1", .agent = "8-1-1/0"};
  Loop loop_;
  FakeAttemptHost here_{loop_.context.get_executor()};
  FakeAttemptHost away_{loop_.context.get_executor()};
  AttemptHosts hosts_{here_, &away_};
};

TEST_F(AttemptHostsTest, AsksTheHostThatTheAgentNames) {
  EXPECT_EQ(loop_.Run(hosts_.Of(local_.agent).Inspect(local_)).state, AttemptState::kEnded);
  EXPECT_EQ(loop_.Run(hosts_.Of(remote_.agent).Inspect(remote_)).state, AttemptState::kLost);
  EXPECT_EQ(loop_.Run(hosts_.Of(remote_.agent).HoldingOf(remote_)).value_or(AttemptHost::Holding{}).job_id,
            "away");
  AttemptRef elsewhere = remote_;
  elsewhere.agent.clear();
  EXPECT_EQ(loop_.Run(hosts_.Of(elsewhere.agent).Inspect(elsewhere)).state, AttemptState::kAbsent);
}

TEST_F(AttemptHostsTest, ListsAndForgetsWhatBothHave) {
  EXPECT_THAT(loop_.Run(hosts_.List()).value_or(std::vector<AttemptRef>{}),
              testing::UnorderedElementsAre(local_, remote_));
  EXPECT_TRUE(loop_.Run(hosts_.Of(remote_.agent).Forget(remote_)));
  EXPECT_THAT(loop_.Run(hosts_.List()).value_or(std::vector<AttemptRef>{}), testing::ElementsAre(local_));
}

}  // namespace
}  // namespace trainyard::engine
