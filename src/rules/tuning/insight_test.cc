#include "rules/tuning/insight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>

#include "rules/tuning/random.h"

namespace trainyard::tuning {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

StudySpec SpecOf(std::vector<Parameter> parameters, bool maximize = false) {
  return {.space = {.parameters = std::move(parameters)}, .metrics = {{.name = "m", .maximize = maximize}}};
}

Parameter Double(std::string name, double min = 0, double max = 1, Scale scale = Scale::kLinear) {
  return {.name = std::move(name), .scale = scale, .min = min, .max = max, .discrete = {}, .categories = {}};
}

using Function = std::function<double(const Point&)>;

/// Random points: a category's index, else a value between the bounds on the parameter's scale.
std::vector<Trial> TrialsOf(const StudySpec& spec, int count, const Function& f) {
  Random random(17, 1);
  std::vector<Trial> trials;
  for (int id = 1; id <= count; ++id) {
    Trial trial{.id = id, .state = Trial::State::kCompleted};
    for (const Parameter& parameter : spec.space.parameters) {
      const double at = random.Uniform();
      trial.point.push_back(parameter.type == Parameter::Type::kCategorical
                                ? std::floor(at * static_cast<double>(parameter.categories.size()))
                            : parameter.scale == Scale::kLog
                                ? parameter.min * std::pow(parameter.max / parameter.min, at)
                                : parameter.min + at * (parameter.max - parameter.min));
    }
    trial.values = {f(trial.point)};
    trials.push_back(std::move(trial));
  }
  return trials;
}

std::map<std::string, double> Shares(const StudySpec& spec, int count, const Function& f) {
  std::map<std::string, double> shares;
  const Insight insight = InsightOf(spec, TrialsOf(spec, count, f));
  EXPECT_EQ(insight.note, "");
  double sum = 0;
  double last = 1;
  for (const Insight::Importance& one : insight.importances) {
    EXPECT_LE(one.share, last) << "most important first";
    last = one.share;
    sum += one.share;
    shares[one.parameter] = one.share;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  return shares;
}

TEST(Insight, OneParameterOfThreeMatters) {
  const StudySpec spec = SpecOf({Double("a"), Double("b"), Double("c")});
  const auto shares = Shares(spec, 40, [](const Point& p) { return 5 * p[1]; });
  EXPECT_GT(shares.at("b"), 0.95);
}

TEST(Insight, OfASumAsTheVariancesAre) {
  // Uniform a and 2 b have variances of 1 to 4; the scale of the results is the model's, which is near.
  const StudySpec spec = SpecOf({Double("a"), Double("b")}, true);
  const auto shares = Shares(spec, 60, [](const Point& p) { return p[0] + 2 * p[1]; });
  EXPECT_THAT(shares.at("b"), DoubleNear(0.8, 0.08));
}

TEST(Insight, OfAnInteractionBothHaveTheirShare) {
  const StudySpec spec = SpecOf({Double("a", -1, 1), Double("b", -1, 1), Double("c")});
  const auto shares = Shares(spec, 80, [](const Point& p) { return p[0] * p[1]; });
  EXPECT_THAT(shares.at("a"), DoubleNear(0.5, 0.1));
  EXPECT_THAT(shares.at("b"), DoubleNear(0.5, 0.1));
  EXPECT_LT(shares.at("c"), 0.05);
}

TEST(Insight, OfIshigamisFunction) {
  // Total effects 0.56, 0.44, 0.24 of the variance: shares 0.45, 0.36, 0.19.
  const double pi = std::numbers::pi;
  const StudySpec spec = SpecOf({Double("a", -pi, pi), Double("b", -pi, pi), Double("c", -pi, pi)});
  const auto shares = Shares(spec, 250, [](const Point& p) {
    return std::sin(p[0]) + 7 * std::pow(std::sin(p[1]), 2) + 0.1 * std::pow(p[2], 4) * std::sin(p[0]);
  });
  EXPECT_THAT(shares.at("a"), DoubleNear(0.45, 0.1));
  EXPECT_THAT(shares.at("b"), DoubleNear(0.36, 0.1));
  EXPECT_THAT(shares.at("c"), DoubleNear(0.19, 0.1));
}

TEST(Insight, OfACategoryAndALearningRate) {
  Parameter optimizer{.name = "optimizer",
                      .type = Parameter::Type::kCategorical,
                      .discrete = {},
                      .categories = {"adam", "sgd", "lion"}};
  const StudySpec spec = SpecOf({Double("rate", 1e-5, 1, Scale::kLog), optimizer, Double("seed", 0, 100)});
  const auto shares = Shares(spec, 60, [](const Point& p) { return p[1] == 1 ? 3.0 : 1.0 + 0.05 * p[1]; });
  EXPECT_GT(shares.at("optimizer"), 0.9);
  const auto by_rate = Shares(spec, 60, [](const Point& p) { return std::pow(std::log10(p[0]) + 3, 2); });
  EXPECT_GT(by_rate.at("rate"), 0.9);
}

TEST(Insight, SaysWhyThereIsNone) {
  const StudySpec spec = SpecOf({Double("a"), Double("b")});
  const auto one = [](const Point&) { return 1.0; };
  EXPECT_EQ(InsightOf(spec, {}).note, "Shown after 5 trials with results; there are 0.");
  EXPECT_EQ(InsightOf(spec, TrialsOf(spec, 4, one)).note, "Shown after 5 trials with results; there are 4.");
  EXPECT_EQ(InsightOf(spec, TrialsOf(spec, 9, one)).note, "All results are equal.");
  Random noise(3, 9);
  const auto chance = [&noise](const Point&) { return noise.Normal(); };
  EXPECT_EQ(InsightOf(spec, TrialsOf(spec, 100, chance)).note,
            "The results differ as if by chance: no parameter explains them.");
  EXPECT_THAT(InsightOf(spec, TrialsOf(spec, 100, chance)).importances, IsEmpty());
}

TEST(Insight, TheBestSoFarIsOfCompletedTrialsOfThisStudy) {
  const StudySpec spec = SpecOf({Double("a")}, true);
  using State = Trial::State;
  const auto trial = [](int id, State state, double value) {
    return Trial{.id = id, .point = {0.1}, .state = state, .values = {value}};
  };
  const std::vector<Trial> trials{trial(0, State::kCompleted, 9),
                                  trial(1, State::kCompleted, 1),
                                  trial(2, State::kStoppedEarly, 5),
                                  trial(3, State::kCompleted, 0.5),
                                  trial(4, State::kCompleted, std::numeric_limits<double>::quiet_NaN()),
                                  trial(5, State::kCompleted, 2),
                                  trial(6, State::kActive, 7)};
  EXPECT_THAT(InsightOf(spec, trials).best_so_far, ElementsAre(Insight::Best{1, 1}, Insight::Best{5, 2}));
}

TEST(Insight, IsBoundedWhateverTheStudy) {
  std::vector<Parameter> many;
  for (int i = 0; i < 40; ++i) many.push_back(Double("p" + std::to_string(i)));
  const StudySpec spec = SpecOf(many);
  const Insight insight = InsightOf(spec, TrialsOf(spec, 200, [](const Point& p) { return p[3]; }));
  EXPECT_EQ(insight.importances.size() + (insight.note.empty() ? 0 : 40), 40U);
}

}  // namespace
}  // namespace trainyard::tuning
