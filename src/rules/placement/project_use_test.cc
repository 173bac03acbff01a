#include "rules/placement/project_use.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace trainyard::placement {
namespace {

constexpr double kTolerance = 1e-6;
constexpr double kDay = 86'400;

SysTime At(double seconds) {
  return SysTime(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds)));
}

TEST(ProjectUses, CountsSecondBySecondAndHalvesInADay) {
  ProjectUses uses({.accelerators = 4, .cpus = 16});
  uses.Start(1, "p", {.accelerators = 2, .cpus = 8}, At(0));
  EXPECT_NEAR(uses.Of("p", At(10)).accelerator_seconds, 20, 0.01);
  EXPECT_NEAR(uses.Of("p", At(10)).cpu_seconds, 80, 0.01);
  uses.Stop(1, At(10));
  EXPECT_NEAR(uses.Of("p", At(10 + kDay)).cpu_seconds, 40, 0.01);
  EXPECT_NEAR(uses.Of("p", At(10 + 2 * kDay)).cpu_seconds, 20, 0.01);
  EXPECT_EQ(uses.Of("p", At(10)).last_admitted, At(0));
  EXPECT_EQ(uses.Of("nobody", At(10)), ProjectUse{});
}

TEST(ProjectUses, ItIsTheSameHoweverOftenItIsLookedAt) {
  std::mt19937 random(7);
  ProjectUses often({.cpus = 8});
  ProjectUses seldom({.cpus = 8});
  for (ProjectUses* uses : {&often, &seldom}) uses->Start(1, "p", {.cpus = 3}, At(0));
  double time = 0;
  for (std::int64_t uid = 2; uid < 50; ++uid) {  // other projects come and go, without allocations
    time += static_cast<double>(random() % 3'600);
    often.Start(uid, "p", {}, At(time));
    often.Stop(uid, At(time + 1));
  }
  EXPECT_NEAR(often.Of("p", At(kDay * 3)).cpu_seconds, seldom.Of("p", At(kDay * 3)).cpu_seconds, 0.01);
}

TEST(ProjectUses, GivesBackWhatWasChargedInAdvance) {
  ProjectUses uses({.cpus = 4});
  EXPECT_EQ(uses.ScoreOf("p", At(0)), 0);
  uses.Start(1, "p", {.cpus = 2}, At(0));
  const double charged = ProjectUses::ChargeOf(uses.ShareOf({.cpus = 2}));
  EXPECT_NEAR(uses.ScoreOf("p", At(0)), charged, kTolerance);
  EXPECT_NEAR(uses.ScoreOf("p", At(60)), charged, 0.1) << "used instead of charged";
  uses.Stop(1, At(60));
  EXPECT_NEAR(uses.ScoreOf("p", At(60)), 30, 0.1);
}

TEST(ProjectUses, TheLargerPartOfTheMachineCounts) {
  ProjectUses uses({.accelerators = 2, .cpus = 100});
  EXPECT_NEAR(uses.ShareOf({.accelerators = 1, .cpus = 10}), 0.5, kTolerance);
  EXPECT_NEAR(uses.ShareOf({.cpus = 80}), 0.8, kTolerance);
  EXPECT_EQ(uses.ShareOf({}), ProjectUses::kShareMin);
}

TEST(ProjectUses, ComparesProjectsByWhatBothUsed) {
  ProjectUses uses({.accelerators = 4, .cpus = 16});
  uses.Restore("a", {.accelerator_seconds = 30, .cpu_seconds = 1, .last_admitted = {}}, At(0));
  uses.Restore("b", {.accelerator_seconds = 60, .cpu_seconds = 1, .last_admitted = {}}, At(0));
  uses.Restore("c", {.accelerator_seconds = 10, .cpu_seconds = 1'000, .last_admitted = {}}, At(0));
  const auto gpus = uses.Compare("a", "b", At(0));
  EXPECT_EQ(gpus.resource, "GPU time");
  EXPECT_NEAR(gpus.first, 0.3, kTolerance);
  EXPECT_NEAR(gpus.second, 0.6, kTolerance);
  EXPECT_EQ(uses.Compare("a", "c", At(0)).resource, "machine's time");
  EXPECT_EQ(uses.Compare("nobody", "c", At(0)).resource, "CPU time");
  EXPECT_EQ(uses.Compare("nobody", "c", At(0)).first, 0);
}

TEST(ProjectUses, GoesOnWhereAPreviousServerStopped) {
  ProjectUses uses({.cpus = 4});
  uses.Restore("p", {.accelerator_seconds = 0, .cpu_seconds = 100, .last_admitted = At(900)}, At(1'000));
  uses.Start(1, "p", {.cpus = 2}, At(900));    // counted by that server up to 1,000
  uses.Start(2, "q", {.cpus = 1}, At(1'020));  // started after it wrote
  uses.Start(3, "q", {.cpus = 1}, At(1'010));
  EXPECT_NEAR(uses.Of("p", At(1'050)).cpu_seconds, 200, 0.2);
  EXPECT_NEAR(uses.Of("q", At(1'050)).cpu_seconds, 70, 0.2);
  EXPECT_EQ(uses.Of("p", At(1'050)).last_admitted, At(900));
}

TEST(ProjectUses, ThePastIsWorthTheSameFromItsTimesAlone) {
  ProjectUses uses({.accelerators = 4, .cpus = 16});
  uses.Start(1, "p", {.accelerators = 2, .cpus = 8}, At(100));
  uses.Stop(1, At(5'000));
  const ProjectUse past = PastUse({.accelerators = 2, .cpus = 8}, At(100), At(5'000), At(kDay));
  EXPECT_NEAR(past.cpu_seconds, uses.Of("p", At(kDay)).cpu_seconds, kTolerance);
  EXPECT_NEAR(past.accelerator_seconds, uses.Of("p", At(kDay)).accelerator_seconds, kTolerance);
}

TEST(ProjectUses, ForgetsWhoUsedNothingForLong) {
  ProjectUses uses({.cpus = 4});
  uses.Start(1, "p", {.cpus = 4}, At(0));
  uses.Stop(1, At(1));
  EXPECT_EQ(uses.All(At(1)).size(), 1);
  EXPECT_TRUE(uses.All(At(20 * kDay)).empty());
}

TEST(ProjectUses, AClockThatGoesBackTakesNothing) {
  ProjectUses uses({.cpus = 4});
  uses.Start(1, "p", {.cpus = 4}, At(100));
  uses.Stop(1, At(50));
  EXPECT_EQ(uses.Of("p", At(50)).cpu_seconds, 0);
  EXPECT_EQ(uses.Of("p", At(100)).cpu_seconds, 0);
}

}  // namespace
}  // namespace trainyard::placement
