#include "control/intake/request_quota.h"

#include <gtest/gtest.h>

namespace trainyard::control {
namespace {

using namespace std::chrono_literals;
using Kind = RequestQuota::Kind;

class SetClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return now; }
  SysTime now{1'600'000'000s};
};

TEST(RequestQuotaTest, SlidesOverAnyMinute) {
  SetClock clock;
  RequestQuota quota(clock, {.creates = 3, .others = std::nullopt});
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(quota.Take("p", Kind::kCreate));
    clock.now += 10s;
  }
  // At 30 s: the requests of 0, 10 and 20 s are in the window.
  auto refusal = quota.Take("p", Kind::kCreate);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->retry_after, 30s);
  clock.now += 29500ms;
  refusal = quota.Take("p", Kind::kCreate);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->retry_after, 1s) << "rounded up";
  clock.now += 500ms;
  EXPECT_FALSE(quota.Take("p", Kind::kCreate)) << "that of 0 s has left; refused ones do not count";
  EXPECT_TRUE(quota.Take("p", Kind::kCreate));
}

TEST(RequestQuotaTest, CountsProjectsAndKindsApart) {
  SetClock clock;
  RequestQuota quota(clock, {.creates = 1, .others = 2});
  EXPECT_FALSE(quota.Take("p", Kind::kCreate));
  EXPECT_TRUE(quota.Take("p", Kind::kCreate));
  EXPECT_FALSE(quota.Take("q", Kind::kCreate));
  EXPECT_FALSE(quota.Take("p", Kind::kOther));
  EXPECT_FALSE(quota.Take("p", Kind::kOther));
  EXPECT_TRUE(quota.Take("p", Kind::kOther));
}

TEST(RequestQuotaTest, IsOffByDefault) {
  SetClock clock;
  RequestQuota quota(clock, {});
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(quota.Take("p", Kind::kCreate));
    EXPECT_FALSE(quota.Take("p", Kind::kOther));
  }
}

TEST(RequestQuotaTest, AClockSetBackLocksNobodyOut) {
  SetClock clock;
  RequestQuota quota(clock, {.creates = 1, .others = std::nullopt});
  EXPECT_FALSE(quota.Take("p", Kind::kCreate));
  clock.now -= 24h;
  EXPECT_FALSE(quota.Take("p", Kind::kCreate));
  EXPECT_TRUE(quota.Take("p", Kind::kCreate));
}

TEST(RequestQuotaTest, ForgetsQuietProjectsAndNoOthers) {
  SetClock clock;
  RequestQuota quota(clock, {.creates = 1, .others = std::nullopt});
  for (int i = 0; i < 5'000; ++i) {
    EXPECT_FALSE(quota.Take("p" + std::to_string(i), Kind::kCreate));
    EXPECT_TRUE(quota.Take("p" + std::to_string(i), Kind::kCreate)) << i;
    clock.now += 10ms;
  }
  EXPECT_TRUE(quota.Take("p0", Kind::kCreate)) << "50 s ago";
}

TEST(RequestQuotaTest, RefusesInTheOriginalsWords) {
  SetClock clock;
  RequestQuota quota(clock, {.creates = 1, .others = 1});
  for (const Kind kind : {Kind::kCreate, Kind::kOther}) EXPECT_FALSE(quota.Take("123456789012", kind));
  EXPECT_EQ(
      quota.Take("123456789012", Kind::kCreate)->error,
      (ResourceExhausted(
          "Quota exceeded for quota metric 'Job requests' and limit 'Job requests per minute' of service "
          "'ml.googleapis.com' for consumer 'project_number:123456789012'.")));
  EXPECT_EQ(quota.Take("123456789012", Kind::kOther)->error.message,
            "Quota exceeded for quota metric 'Resource management requests' and limit 'Resource management "
            "requests "
            "per minute' of service 'ml.googleapis.com' for consumer 'project_number:123456789012'.");
}

TEST(RequestQuotaTest, ReadsItsText) {
  const auto both = RequestQuota::Limits::Parse("creates=60,other=300").value();
  EXPECT_EQ(both.creates, 60);
  EXPECT_EQ(both.others, 300);
  const auto one = RequestQuota::Limits::Parse("other=5").value();
  EXPECT_FALSE(one.creates);
  EXPECT_EQ(one.others, 5);
  for (const char* bad : {"60", "creates", "creates=", "creates=x", "creates=0", "creates=-1",
                          "creates=1,creates=2", "others=3", "creates=1 ,other=2", "creates=99999999999"}) {
    EXPECT_FALSE(RequestQuota::Limits::Parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace trainyard::control
