#include "server/readiness_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace trainyard::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ReadinessFacts Good() {
  return {.recovered = true, .folder = "/data", .free_bytes = kFreeBytesMin, .free_inodes = kFreeInodesMin};
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
  facts.free_bytes = kFreeBytesMin - 1;
  facts.stored = std::unexpected(Error{Code::kResourceExhausted, "t.db: No space left on device", {}});
  facts.lateness = kLatenessMax + std::chrono::milliseconds(1);
  const auto readiness = Judge(facts);
  EXPECT_THAT(Failing(readiness), ElementsAre("recovery", "disk", "store", "loop"));
  EXPECT_THAT(readiness.checks(2).detail(), HasSubstr("No space left"));
}

TEST(Judge, InodesCountWhereTheyAreCounted) {
  ReadinessFacts facts = Good();
  facts.free_inodes = kFreeInodesMin - 1;
  EXPECT_THAT(Failing(Judge(facts)), ElementsAre("disk"));
  facts.free_inodes = -1;
  EXPECT_THAT(Failing(Judge(facts)), ElementsAre());
}

TEST(Judge, DrainingIsReadyAndSaysSo) {
  ReadinessFacts facts = Good();
  facts.draining = true;
  const auto readiness = Judge(facts);
  EXPECT_THAT(Failing(readiness), ElementsAre());
  EXPECT_THAT(readiness.checks(4).detail(), HasSubstr("draining"));
}

}  // namespace
}  // namespace trainyard::server
