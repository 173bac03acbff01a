#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "programs/attempt/init_note.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "programs/sandbox/network/replica_network.h"
#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::replica {
namespace {

using testing::UnorderedElementsAre;

/// A trainer that releases every lock that it can: only locks on descriptors that it shares with the locker
/// would be affected.
constexpr const char* kLetsGo = R"(
import fcntl, os, time
for number in range(3, 1024):
  try: fcntl.flock(number, fcntl.LOCK_UN)
  except OSError: pass
try: held = [os.readlink('/proc/self/fd/' + name) for name in os.listdir('/proc/self/fd')]
except OSError: held = []
print('let go', any(name.endswith('/lock') for name in held), flush=True)
while not os.path.exists('go'): time.sleep(0.005)
)";

/// In each test the parameter is the best isolation that may be used: 0 all namespaces, 3 none.
class ProofOfLifeTest : public AttemptFixture, public testing::WithParamInterface<int> {
 protected:
  ProofOfLifeTest() { options_ = {"--isolation=" + std::to_string(GetParam())}; }
  void LetEnd() { std::ofstream(dir_.Work() + "/go") << "go"; }
};

TEST_P(ProofOfLifeTest, AProgramCannotLetGoOfTheLock) {
  PythonProgram(kLetsGo);
  Run();
  ASSERT_TRUE(WaitForLine("let go False"));
  EXPECT_EQ(IsLocked(dir_), true);
  const auto note = ReadInitNote(dir_);
  ASSERT_TRUE(note.has_value());
  EXPECT_THAT(LockHolders(dir_), UnorderedElementsAre(supervisor_, note->init.pid));
  LetEnd();
  EXPECT_EQ(Finish().exit_code(), 0);
}

TEST_P(ProofOfLifeTest, TheInitProcessIsNoted) {
  Program("until [ -e go ]; do sleep 0.005; done");
  Run();
  const auto note = ReadInitNote(dir_);
  ASSERT_TRUE(note.has_value());
  EXPECT_EQ(note->init.pid, Descendants(supervisor_).front());
  EXPECT_TRUE(OpenProcess(note->init));
  const bool tracked_by_parentage = GetParam() >= 2;
  EXPECT_TRUE(tracked_by_parentage || note->groups.empty());
  LetEnd();
  Finish();
  EXPECT_FALSE(OpenProcess(note->init));
  for (const std::string& group : note->groups) EXPECT_NE(access(group.c_str(), F_OK), 0) << group;
}

/// Each process lives just long enough to start the next one: going through a list of processes is always too
/// late.
TEST_P(ProofOfLifeTest, WhatForksWithoutEndEndsWithTheProgram) {
  PythonProgram(R"(
import os
if os.fork() == 0:
  os.setsid()
  while os.fork() == 0: pass
  os._exit(0)
print('forking', flush=True)
)");
  Run();
  EXPECT_EQ(Finish().exit_code(), 0);
}

INSTANTIATE_TEST_SUITE_P(Isolations, ProofOfLifeTest, testing::Values(0, 1, 2, 3), [](const auto& row) {
  return std::string(std::array{"namespaces", "user_namespaces", "no_pid_namespace",
                                "none"}[static_cast<std::size_t>(row.param)]);
});

class IsolatedProofOfLifeTest : public AttemptFixture {};

TEST_F(IsolatedProofOfLifeTest, TheRelayHoldsTheLockAndNoProgram) {
  if (const Status possible = CheckIsolatedNetworks(); !possible) GTEST_SKIP() << possible.error().message;
  manifest_.set_network(v1::Manifest::ISOLATED);
  manifest_.set_address("10.77.1.1");
  manifest_.set_port(2222);
  manifest_.mutable_places()->set_relay_port(8470);
  PythonProgram(kLetsGo);
  Run();
  ASSERT_TRUE(WaitForLine("let go False"));
  EXPECT_EQ(IsLocked(dir_), true);
  pid_t relay = 0;
  std::ifstream(dir_.Relay()) >> relay;
  const auto note = ReadInitNote(dir_);
  ASSERT_TRUE(note.has_value());
  EXPECT_THAT(LockHolders(dir_), UnorderedElementsAre(supervisor_, note->init.pid, relay));
  std::ofstream(dir_.Work() + "/go") << "go";
  EXPECT_EQ(Finish().exit_code(), 0);
}

}  // namespace
}  // namespace trainyard::replica
