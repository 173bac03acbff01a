#include "programs/sandbox/namespaces/namespace_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "programs/sandbox/sandbox.h"

namespace trainyard::replica {
namespace {

using testing::HasSubstr;

TEST(NamespaceAdvice, NamesTheSettingThatForbidsThem) {
  EXPECT_EQ(
      NamespaceAdvice({.apparmor_restricts = 1, .clone_allowed = 1, .count_max = 9, .networks_max = {}}),
      "as root: sysctl kernel.apparmor_restrict_unprivileged_userns=0");
  EXPECT_EQ(
      NamespaceAdvice({.apparmor_restricts = {}, .clone_allowed = 0, .count_max = 9, .networks_max = {}}),
      "as root: sysctl kernel.unprivileged_userns_clone=1");
  EXPECT_EQ(
      NamespaceAdvice({.apparmor_restricts = 0, .clone_allowed = {}, .count_max = 0, .networks_max = {}}),
      "as root: sysctl user.max_user_namespaces=10000");
  EXPECT_EQ(
      NamespaceAdvice({.apparmor_restricts = {}, .clone_allowed = {}, .count_max = 9, .networks_max = 0}),
      "as root: sysctl user.max_net_namespaces=10000");
  EXPECT_THAT(NamespaceAdvice({}), HasSubstr("seccomp=unconfined"));
}

TEST(NamespaceSettings, AreTheMachines) {
  EXPECT_GE(ReadNamespaceSettings().count_max.value_or(-1), 0) << "every kernel has this one";
}

/// The check's result must agree with what a sandbox then gets.
TEST(Namespaces, AreTriedOut) {
  const Status can = CheckUserNamespaces();
  if (!can) {
    EXPECT_EQ(can.error().code, Code::kFailedPrecondition);
    GTEST_SKIP() << can.error().message;
  }
  EXPECT_TRUE(CheckOwnRoot());
}

TEST(ConnectDoors, AreTriedOut) {
  const Status can = CheckConnectDoors();
  EXPECT_TRUE(can) << can.error().message;
}

}  // namespace
}  // namespace trainyard::replica
