#include "sandbox/required_isolation.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sandbox/patience.h"
#include "sandbox/testing/ordinary_user.h"

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
