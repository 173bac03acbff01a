#include "rules/tuning/early_stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace trainyard::tuning {
namespace {

using testing::HasSubstr;

StudySpec Spec(bool maximize = true) {
  StudySpec spec;
  spec.metrics = {{.name = "acc", .maximize = maximize}};
  return spec;
}

/// Reports at steps 1, 2, ... and seconds 10, 20, ...
Trial MakeTrial(std::vector<double> values, Trial::State state = Trial::State::kCompleted) {
  Trial trial{.state = state};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i + 1);
    trial.curve.push_back(
        {.step = position, .elapsed_s = 10.0 * static_cast<double>(position), .values = {values[i]}});
  }
  if (!values.empty()) trial.values = {values.back()};
  return trial;
}
Trial Pending(std::vector<double> values) { return MakeTrial(std::move(values), Trial::State::kActive); }

/// Their running averages up to step 2 are 1, 2, 3, 4 and 5.
std::vector<Trial> FiveTrials(double sign = 1) {
  std::vector<Trial> trials;
  for (int i = 1; i <= 5; ++i)
    trials.push_back(MakeTrial({sign * (i - 0.5), sign * (i + 0.5), sign * 100.0 * i}));
  return trials;
}

bool Stops(const std::vector<Trial>& trials, const Trial& pending,
           StoppingRule rule = StoppingRule::kMedian) {
  return JudgeTrial(Spec(), trials, pending, rule, false).stop;
}

// --- The median rule

TEST(MedianRule, ComparesTheBestValueWithTheMedianOfTheRunningAverages) {
  const StoppingVerdict verdict =
      JudgeTrial(Spec(), FiveTrials(), Pending({2.9, 1}), StoppingRule::kMedian, false);
  EXPECT_TRUE(verdict.stop);
  EXPECT_EQ(
      verdict.reason,
      "Its best value up to step 2, 2.9, is worse than the median of the running averages of 5 trials, 3.");
  EXPECT_FALSE(Stops(FiveTrials(), Pending({1, 3.1})));
  EXPECT_FALSE(Stops(FiveTrials(), Pending({3, 1}))) << "strictly below";
}

TEST(MedianRule, OfAnEvenNumberIsBetweenTheTwoInTheMiddle) {
  std::vector<Trial> trials = FiveTrials();
  trials.push_back(MakeTrial({6, 6, 6}));  // 3.5
  EXPECT_TRUE(Stops(trials, Pending({3.4, 1})));
  EXPECT_FALSE(Stops(trials, Pending({3.6, 1})));
}

TEST(MedianRule, MinimizesBySignFlip) {
  const auto judge = [](double value) {
    return JudgeTrial(Spec(false), FiveTrials(), Pending({value, 100}), StoppingRule::kMedian, false);
  };
  EXPECT_FALSE(judge(2.9).stop);
  EXPECT_TRUE(judge(3.1).stop);
  EXPECT_THAT(judge(3.1).reason,
              HasSubstr("step 2, 3.1, is worse than the median of the running averages of 5 trials, 3."));
}

TEST(MedianRule, LooksAtElapsedTimeWhereItIsTold) {
  std::vector<Trial> trials = FiveTrials();
  Trial slow = Pending({2.9, 1});
  for (StepReport& one : slow.curve) one.elapsed_s *= 1.5;  // 30 s: all three reports of the others count
  EXPECT_THAT(
      JudgeTrial(Spec(), trials, slow, StoppingRule::kMedian, true).reason,
      HasSubstr("up to 30.0 s, 2.9, is worse than the median of the running averages of 5 trials, 102."));
}

TEST(MedianRule, NeedsEnoughToGoBy) {
  std::vector<Trial> trials = FiveTrials();
  EXPECT_FALSE(Stops(trials, Pending({}))) << "no report";
  EXPECT_FALSE(Stops(trials, Pending({-1}))) << "one report";
  EXPECT_TRUE(Stops(trials, Pending({-1, -1})));
  trials.pop_back();
  EXPECT_FALSE(Stops(trials, Pending({-1, -1}))) << "four trials";
  Trial late = MakeTrial({5, 5});
  for (StepReport& one : late.curve) one.step += 10;
  trials.push_back(late);
  EXPECT_FALSE(Stops(trials, Pending({-1, -1}))) << "the fifth has no report by then";
}

TEST(MedianRule, FailedAndPendingTrialsDoNotCount) {
  std::vector<Trial> trials = FiveTrials();
  trials.back().state = Trial::State::kInfeasible;
  EXPECT_FALSE(Stops(trials, Pending({-1, -1})));
  trials.back().state = Trial::State::kActive;
  EXPECT_FALSE(Stops(trials, Pending({-1, -1})));
}

TEST(MedianRule, AStoppedTrialCountsAsFarAsItCame) {
  std::vector<Trial> trials = FiveTrials();
  for (int i = 0; i < 6; ++i) trials.push_back(MakeTrial({0, 0}, Trial::State::kStoppedEarly));
  EXPECT_FALSE(Stops(trials, Pending({0.5, 0.5}))) << "the median of all is 0";
  for (std::size_t i = 5; i < trials.size(); ++i) trials[i].curve.pop_back();
  EXPECT_TRUE(Stops(trials, Pending({0.5, 0.5}))) << "they did not come that far";
}

TEST(MedianRule, WhatIsNotANumberWasNotReported) {
  const double nan = std::nan("");
  EXPECT_FALSE(Stops(FiveTrials(), Pending({nan, nan})));
  EXPECT_FALSE(Stops(FiveTrials(), Pending({-1, nan}))) << "one report";
  EXPECT_FALSE(Stops(FiveTrials(), Pending({-HUGE_VAL, nan, -HUGE_VAL})));
  std::vector<Trial> trials = FiveTrials();
  trials[0].curve[1].values = {nan};
  EXPECT_TRUE(Stops(trials, Pending({2.9, 1})));
  trials[0].curve[0].values = {-HUGE_VAL};
  EXPECT_FALSE(Stops(trials, Pending({2.9, 1}))) << "four trials are left";
  trials[0].curve[0].values = {};
  EXPECT_FALSE(Stops(trials, Pending({2.9, 1})));
}

TEST(MedianRule, TwoReportsOfOneStepAreOne) {
  Trial pending = Pending({-1, -1});
  pending.curve[1].step = pending.curve[0].step;
  EXPECT_FALSE(Stops(FiveTrials(), pending));
}

TEST(JudgeTrial, OfThousandsASpreadAndTheBestAreLookedAt) {
  std::vector<Trial> trials;
  for (int i = 0; i < 5000; ++i) trials.push_back(MakeTrial(std::vector<double>(9, i)));
  const StoppingVerdict verdict =
      JudgeTrial(Spec(), trials, Pending({2200, 2200}), StoppingRule::kMedian, false);
  EXPECT_TRUE(verdict.stop) << "the median is about 2500";
  EXPECT_THAT(verdict.reason, HasSubstr("of 500 trials"));
  EXPECT_FALSE(Stops(trials, Pending({2800, 2800})));
  trials.at(4321) = MakeTrial(std::vector<double>(9, 7654));  // between two trials that are compared
  EXPECT_THAT(JudgeTrial(Spec(), trials, Pending({1, 1, 1, 1, 1}), StoppingRule::kDecayCurve, false).reason,
              HasSubstr("the best value so far, 7654,"));
  for (int i = 0; i < 5000; ++i) {  // every tenth of all would be of those that were stopped
    if (i % 100 != 5) trials.at(static_cast<std::size_t>(i)) = MakeTrial({1}, Trial::State::kStoppedEarly);
  }
  EXPECT_TRUE(JudgeTrial(Spec(), trials, Pending({1, 1, 1, 1, 1}), StoppingRule::kDecayCurve, false).stop)
      << "of those that came to their end none is left out";
}

TEST(JudgeTrial, OfSeveralMetricsSaysNothing) {
  StudySpec spec = Spec();
  spec.metrics.push_back({.name = "loss"});
  EXPECT_FALSE(JudgeTrial(spec, FiveTrials(), Pending({-1, -1}), StoppingRule::kMedianOrCurve, false).stop);
}

// --- The curve rule

struct Family {
  const char* name;
  double noise;
  bool slow_ones_end_better;
  bool some_diverge;
};

/// Curves that rise to their own limits at their own rates.
std::vector<double> RandomCurve(const Family& family, std::mt19937_64& random, std::size_t steps) {
  std::normal_distribution<double> normal;
  const double rate = std::exp(-0.3 + 0.5 * normal(random));
  const double height = 0.5 * std::exp(0.4 * normal(random));
  double limit = 0.7 + 0.1 * normal(random) - (family.slow_ones_end_better ? 0.15 * std::log(rate) : 0);
  if (family.some_diverge && normal(random) > 1) limit = -1e6;
  std::vector<double> values;
  for (std::size_t i = 1; i <= steps; ++i)
    values.push_back(limit - height * std::pow(static_cast<double>(i), -rate) +
                     family.noise * normal(random));
  return values;
}

TEST(CurveRule, SaysWhatItExpectsAndWhy) {
  std::mt19937_64 random(7);
  std::vector<Trial> trials;
  for (int i = 0; i < 20; ++i) trials.push_back(MakeTrial(RandomCurve({"", 0.01}, random, 30)));
  const StoppingVerdict verdict =
      JudgeTrial(Spec(), trials, Pending({0, 0.01, 0.02, 0.02, 0.02}), StoppingRule::kDecayCurve, false);
  EXPECT_TRUE(verdict.stop);
  EXPECT_THAT(verdict.reason, testing::MatchesRegex(
                                  "By its curve up to step 5 it would end at about [0-9.e-]+; the chance to "
                                  "beat the best value so far, [0-9.]+, is [0-9.e-]+ %\\."));
  EXPECT_FALSE(Stops(trials, Pending({0.5, 0.8, 0.85, 0.9, 0.9}), StoppingRule::kDecayCurve));
}

TEST(CurveRule, NeedsCurvesThatGoOn) {
  std::mt19937_64 random(7);
  std::vector<Trial> trials;
  for (int i = 0; i < kCurvesMin - 1; ++i) trials.push_back(MakeTrial(RandomCurve({"", 0.01}, random, 30)));
  const Trial bad = Pending({0, 0.01, 0.02, 0.02, 0.02});
  EXPECT_FALSE(Stops(trials, bad, StoppingRule::kDecayCurve));
  trials.push_back(MakeTrial(RandomCurve({"", 0.01}, random, 5)));
  EXPECT_FALSE(Stops(trials, bad, StoppingRule::kDecayCurve)) << "it ends there";
  trials.push_back(MakeTrial(RandomCurve({"", 0.01}, random, 30)));
  EXPECT_TRUE(Stops(trials, bad, StoppingRule::kDecayCurve));
  EXPECT_FALSE(Stops(trials, Pending({0, 0.01, 0.02}), StoppingRule::kDecayCurve))
      << "three reports are no trend";
}

TEST(CurveRule, CurvesThatAllEndAlikeSayNothing) {
  std::vector<Trial> trials(20, MakeTrial({0, 1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(Stops(trials, Pending({0, 0, 0, 0, 0}), StoppingRule::kDecayCurve));
}

TEST(CurveRule, FiguresOfAnySizeAreTaken) {
  std::mt19937_64 random(7);
  for (const double scale : {1e-300, 1e-12, 1e12, 1e300}) {
    std::vector<Trial> trials;
    for (int i = 0; i < 20; ++i) {
      std::vector<double> values = RandomCurve({"", 0.01}, random, 10);
      for (double& value : values) value *= scale;
      trials.push_back(MakeTrial(values));
    }
    EXPECT_FALSE(Stops(trials, Pending({scale, scale, scale, scale, 2 * scale}), StoppingRule::kDecayCurve));
  }
}

struct Outcome {
  double best_stopped = 0;  ///< studies whose best trial was stopped
  double saved = 0;         ///< of all steps
  double lost = 0;          ///< of the best value
};

/// Studies of trials one after the other, each judged at each of its reports.
Outcome Simulate(const Family& family, StoppingRule rule) {
  constexpr int kStudies = 30;
  constexpr std::size_t kTrials = 30;
  constexpr std::size_t kSteps = 25;
  Outcome outcome;
  for (int study = 0; study < kStudies; ++study) {
    std::mt19937_64 random(static_cast<std::uint64_t>(study));
    std::vector<Trial> ended;
    double best = -HUGE_VAL;
    double kept = -HUGE_VAL;
    for (std::size_t i = 0; i < kTrials; ++i) {
      const std::vector<double> values = RandomCurve(family, random, kSteps);
      std::size_t step = 2;
      while (
          step < kSteps &&
          !Stops(ended, Pending({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(step)}), rule))
        ++step;
      const bool stopped = step < kSteps;
      ended.push_back(MakeTrial({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(step)},
                                stopped ? Trial::State::kStoppedEarly : Trial::State::kCompleted));
      outcome.saved += static_cast<double>(kSteps - step) / (kSteps * kTrials * kStudies);
      best = std::max(best, values.back());
      if (!stopped) kept = std::max(kept, values.back());
    }
    outcome.best_stopped += (kept < best ? 1.0 : 0.0) / kStudies;
    outcome.lost += (best - kept) / kStudies;
  }
  return outcome;
}

class Stopping : public testing::TestWithParam<Family> {};
TEST_P(Stopping, SavesMuchAndSeldomStopsTheBest) {
  const Outcome median = Simulate(GetParam(), StoppingRule::kMedian);
  EXPECT_GT(median.saved, 0.25);
  EXPECT_LE(median.best_stopped, 0.05);
  const Outcome both = Simulate(GetParam(), StoppingRule::kMedianOrCurve);
  EXPECT_GT(both.saved, median.saved + 0.1);
  EXPECT_LE(both.best_stopped, 0.1);
  EXPECT_LT(both.lost, 0.003);
}
INSTANTIATE_TEST_SUITE_P(Curves, Stopping,
                         testing::Values(Family{"smooth", 0.01}, Family{"noisy", 0.03},
                                         Family{"crossing", 0.01, true},
                                         Family{"diverging", 0.01, false, true}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::tuning
