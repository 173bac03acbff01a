#include "programs/sandbox/required_isolation.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "programs/sandbox/patience.h"
#include "programs/sandbox/testing/ordinary_user.h"

namespace trainyard::replica {
namespace {

TEST(RequiredIsolation, IsReadAsItWasPrinted) {
  for (const Isolation isolation :
       {Isolation::kNamespaces, Isolation::kUserNamespaces, Isolation::kNoPidNamespace, Isolation::kNone}) {
    const RequiredIsolation required{.isolation = isolation, .reason = "clone: Operation not permitted"};
    EXPECT_EQ(ReadIsolation(PrintIsolation(required)), required);
  }
}

TEST(RequiredIsolation, IsTheBestWhereNobodyHasLooked) {
  EXPECT_EQ(ReadIsolation({}), (RequiredIsolation{.isolation = BestIsolation(), .reason = {}}));
}

TEST(RequiredIsolation, AShortageWhileLookingIsNoReasonForLess) {
  const bool is_best = AskAsOrdinaryUser([] {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    if (setrlimit(RLIMIT_NPROC, &none) != 0) return false;
    return FindIsolation(false) == RequiredIsolation{.isolation = BestIsolation(), .reason = {}} &&
           FindIsolation(true) == RequiredIsolation{.isolation = BestIsolation(), .reason = {}};
  });
  if (geteuid() == 0) EXPECT_TRUE(is_best);
}

TEST(RequiredIsolation, AMissingDescriptorIsAShortage) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto started = Sandbox::Start({.function = [] { return 0; }, .isolation = BestIsolation()});
  const RequiredIsolation found = FindIsolation(false);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(started.has_value());
  EXPECT_TRUE(IsShortage(started.error())) << started.error().message;
  EXPECT_EQ(found, (RequiredIsolation{.isolation = BestIsolation(), .reason = {}}));
}

/// As in a server whose program has file capabilities: its files in /proc belong to root.
TEST(RequiredIsolation, OfAProcessThatNobodyMayLookIntoIsNotLess) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another account";
  const RequiredIsolation best{.isolation = Isolation::kUserNamespaces, .reason = {}};
  if (!AskAsOrdinaryUser([&] { return FindIsolation(false) == best; }))
    GTEST_SKIP() << "users may not have namespaces here";
  EXPECT_TRUE(AskAsOrdinaryUser([&] {
    prctl(PR_SET_DUMPABLE, 0);
    return FindIsolation(false) == best &&
           Sandbox::Start({.function = [] { return 0; }, .isolation = best.isolation}).has_value();
  }));
}

TEST(RequiredIsolation, WhatTheKernelDoesNotRefuseIsNoReasonForLess) {
  const auto started = Sandbox::Start({.function = [] { return 0; },
                                       .isolation = BestIsolation(),
                                       .view = {.read_only = {"/trainyard-is-not-there"}}});
  ASSERT_FALSE(started.has_value());
  EXPECT_NE(started.error().code, Code::kPermissionDenied) << started.error().message;
}

TEST(Patiently, TriesAgainOnlyAfterAShortage) {
  int tries = 0;
  const auto refused = [&]() -> Status {
    ++tries;
    return std::unexpected(FailedPrecondition("no"));
  };
  EXPECT_FALSE(Patiently(refused));
  EXPECT_EQ(tries, 1);
  const auto short_at_first = [&]() -> Status {
    if (++tries < 3) return std::unexpected(Unavailable("too few processes"));
    return {};
  };
  EXPECT_TRUE(Patiently(short_at_first));
  EXPECT_EQ(tries, 3);
}

}  // namespace
}  // namespace trainyard::replica
