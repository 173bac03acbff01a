#include "rules/service/readiness_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace trainyard::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ReadinessFacts Good() {
  return {.recovered = true, .disk = {.folder = "/data", .free_bytes = std::int64_t{4} << 30}};
}

std::vector<std::string> Failing(const control::v1::Readiness& readiness) {
  std::vector<std::string> names;
  for (const auto& check : readiness.checks()) {
    if (!check.ok()) names.push_back(check.name());
  }
  EXPECT_EQ(readiness.ready(), names.empty());
  return names;
}

TEST(Judge, AServerThatCanTakeJobs) {
  EXPECT_THAT(Failing(Judge(Good())), ElementsAre());
  EXPECT_EQ(Judge(Good()).checks_size(), 5);
}

TEST(Judge, NamesEachReason) {
  ReadinessFacts facts = Good();
  facts.recovered = false;
  facts.disk.free_bytes = 900;
  facts.disk_level = retention::DiskLevel::kFull;
  facts.stored = std::unexpected(ResourceExhausted("t.db: No space left on device"));
  facts.lateness = kLatenessMax + std::chrono::milliseconds(1);
  const auto readiness = Judge(facts);
  EXPECT_THAT(Failing(readiness), ElementsAre("recovery", "disk", "store", "loop"));
  EXPECT_THAT(readiness.checks(1).detail(), HasSubstr("900 bytes free, less than 256.0 MiB"));
  EXPECT_THAT(readiness.checks(2).detail(), HasSubstr("No space left"));
}

TEST(Judge, LetsJobsWaitForSpaceAndSaysSo) {
  ReadinessFacts facts = Good();
  EXPECT_EQ(Judge(facts).checks(1).detail(), "4.0 GiB free in /data");
  facts.disk.free_bytes = std::int64_t{512} << 20;
  facts.disk_level = retention::DiskLevel::kLow;
  EXPECT_THAT(Failing(Judge(facts)), ElementsAre());
  EXPECT_THAT(Judge(facts).checks(1).detail(), HasSubstr("512.0 MiB free, less than 1.0 GiB"));
}

TEST(Judge, EverybodyIsToldNoPlaces) {
  ReadinessFacts facts = Good();
  EXPECT_EQ(Judge(ForEverybody(facts)).checks(1).detail(), "4.0 GiB free in the server's data");
  facts.disk.free_bytes = 900;
  facts.stored = std::unexpected(ResourceExhausted("/data/t.db: No space left on device"));
  for (const retention::DiskLevel level : {retention::DiskLevel::kLow, retention::DiskLevel::kFull}) {
    facts.disk_level = level;
    const auto shown = Judge(ForEverybody(facts));
    EXPECT_EQ(Failing(shown), Failing(Judge(facts)));
    EXPECT_THAT(shown.DebugString(), testing::Not(HasSubstr("/data")));
  }
}

TEST(Judge, DrainingIsReadyAndSaysSo) {
  ReadinessFacts facts = Good();
  facts.draining = true;
  const auto readiness = Judge(facts);
  EXPECT_THAT(Failing(readiness), ElementsAre());
  EXPECT_THAT(readiness.checks(4).detail(), HasSubstr("draining"));
}

}  // namespace
}  // namespace trainyard::service
