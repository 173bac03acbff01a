#include "rules/tuning/tuner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "rules/tuning/random.h"
#include "rules/tuning/values.h"

namespace trainyard::tuning {
namespace {

using Type = Parameter::Type;
using Function = std::function<std::vector<double>(const Point&)>;

const Parameter kX{.name = "x", .min = -5, .max = 5};
const Parameter kRate{.name = "rate", .scale = Scale::kLog, .min = 1e-5, .max = 1};
const Parameter kLayers{.name = "layers", .type = Type::kInteger, .min = 1, .max = 6};
const Parameter kBatch{.name = "batch", .type = Type::kDiscrete, .discrete = {16, 32, 64, 128}};
const Parameter kKind{.name = "kind", .type = Type::kCategorical, .categories = {"a", "b", "c"}};

StudySpec Study(std::vector<Parameter> parameters, int trials_planned = 0) {
  return {.space = {std::move(parameters)},
          .metrics = {{"loss", false}},
          .seed = 7,
          .trials_planned = trials_planned};
}

Trial Ended(int id, Point point, std::vector<double> values) {
  return {.id = id,
          .point = std::move(point),
          .state = Trial::State::kCompleted,
          .values = std::move(values),
          .curve = {}};
}

double Bowl(const Point& point) { return std::pow(point[0] - 1, 2) + 3 * std::pow(point[1] + 2, 2); }

double Mixed(const Point& point) {
  return std::pow(std::log10(point[0]) + 2.5, 2) + std::abs(point[1] - 4) +
         std::abs(std::log2(point[2]) - 6) + (point[3] == 1 ? 0 : 1);
}

/// Trials one after the other; the tuner lives from the first to the last.
std::vector<Trial> Tuned(const StudySpec& spec, int count, const Function& function) {
  Tuner tuner(spec);
  std::vector<Trial> trials;
  for (int id = 1; id <= count; ++id) {
    auto points = tuner.Suggest(trials, 1);
    if (points.empty()) break;
    std::vector<double> values = function(points[0]);
    trials.push_back(Ended(id, std::move(points[0]), std::move(values)));
  }
  return trials;
}

double Least(const std::vector<Trial>& trials, const std::function<double(const Point&)>& function) {
  double least = std::numeric_limits<double>::infinity();
  for (const Trial& trial : trials) least = std::min(least, function(trial.point));
  return least;
}

bool IsIn(const Space& space, const Point& point) {
  if (point.size() != space.parameters.size()) return false;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const bool active = IsActive(space, point, i);
    if (active ? !HasValue(space.parameters[i], point[i]) : !std::isnan(point[i])) return false;
  }
  return true;
}

// NaN, too, is equal to itself.
bool Same(const std::vector<Point>& a, const std::vector<Point>& b) {
  return std::ranges::equal(a, b, [](const Point& p, const Point& q) {
    return std::ranges::equal(p, q, [](double x, double y) { return x == y || (x != x && y != y); });
  });
}

TEST(Tuner, FindsTheBottomOfABowl) {
  const auto trials = Tuned(Study({kX, kX}, 30), 30, [](const Point& p) { return std::vector{Bowl(p)}; });
  EXPECT_LT(Least(trials, Bowl), 1e-6);
}

TEST(Tuner, MaximizesWhereThatIsTheGoal) {
  StudySpec spec = Study({kX, kX}, 25);
  spec.metrics = {{"score", true}};
  const auto trials = Tuned(spec, 25, [](const Point& p) { return std::vector{-Bowl(p)}; });
  EXPECT_LT(Least(trials, Bowl), 1e-4);
}

TEST(Tuner, FindsTheBestOfAMixedSpaceWithoutRepeats) {
  const auto trials = Tuned(Study({kRate, kLayers, kBatch, kKind}, 50), 50,
                            [](const Point& p) { return std::vector{Mixed(p)}; });
  EXPECT_LT(Least(trials, Mixed), 0.05);
}

TEST(Tuner, TriesEveryPointOfASmallSpaceOnceBeforeAnyTwice) {
  std::set<Point> seen;
  const auto trials =
      Tuned(Study({kLayers, kBatch}), 24, [](const Point& p) { return std::vector{p[0] + p[1] / 16}; });
  for (const Trial& trial : trials) seen.insert(trial.point);
  EXPECT_EQ(seen.size(), 24);
}

// After a restart, or in another process, the same trials lead to the same points.
TEST(Tuner, GoesOnAsBeforeWhenMadeAnew) {
  StudySpec spec = Study({kRate, kLayers, kX, kKind}, 40);
  Tuner lasting(spec);
  std::vector<Trial> trials;
  for (int id = 1; id <= 40; ++id) {
    const auto points = lasting.Suggest(trials, 1);
    ASSERT_TRUE(Same(points, Tuner(spec).Suggest(trials, 1))) << id;
    Trial trial =
        Ended(id, points[0], {std::abs(std::log10(points[0][0]) + 3) + points[0][1] + points[0][2]});
    if (id % 7 == 0) trial.state = Trial::State::kInfeasible;
    if (id % 5 == 0) trial.state = Trial::State::kStoppedEarly;
    if (id % 3 == 0) trial.state = Trial::State::kActive;  // ends later
    trials.push_back(std::move(trial));
    if (id % 3 == 2 && id > 3) trials[static_cast<std::size_t>(id) - 3].state = Trial::State::kCompleted;
  }
}

TEST(Tuner, OtherSeedsSearchElsewhere) {
  StudySpec spec = Study({kX, kX});
  const auto points = Tuner(spec).Suggest({}, 4);
  spec.seed = 8;
  EXPECT_FALSE(Same(points, Tuner(spec).Suggest({}, 4)));
}

TEST(Tuner, PendingPointsKeepOthersAway) {
  const StudySpec spec = Study({kX, kX}, 100);
  auto trials = Tuned(spec, 20, [](const Point& p) { return std::vector{Bowl(p) + std::sin(5 * p[0])}; });
  const auto points = Tuner(spec).Suggest(trials, 10);
  ASSERT_EQ(points.size(), 10);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GT(std::hypot(points[i][0] - points[j][0], points[i][1] - points[j][1]), 1e-6) << i << ' ' << j;
    }
  }
  // One call for ten points and ten calls for one give the same points.
  for (const Point& point : points) {
    ASSERT_TRUE(Same(Tuner(spec).Suggest(trials, 1), {point}));
    trials.push_back({.id = static_cast<int>(trials.size()) + 1, .point = point, .values = {}, .curve = {}});
  }
}

TEST(Tuner, ThousandsOfFailuresAreFewEnough) {
  const StudySpec spec = Study({kX, kX}, 20000);
  Random random(5, 5);
  std::vector<Trial> trials;
  for (int id = 1; id <= 3000; ++id) {
    Trial trial = Ended(id, {10 * random.Uniform() - 5, 10 * random.Uniform() - 5}, {});
    trial.state = id % 5 == 0 ? Trial::State::kActive : Trial::State::kInfeasible;
    if (id % 30 == 1) trial = Ended(id, trial.point, {Bowl(trial.point)});
    trials.push_back(std::move(trial));
  }
  EXPECT_LT(Bowl(Tuner(spec).Suggest(trials, 1).at(0)), 10);
}

TEST(Tuner, AvoidsWhereTrialsFail) {
  const StudySpec spec = Study({kX, kX}, 40);
  Tuner tuner(spec);
  std::vector<Trial> trials;
  int failed_late = 0;
  for (int id = 1; id <= 40; ++id) {
    const Point point = tuner.Suggest(trials, 1)[0];
    Trial trial = Ended(id, point, {Bowl(point)});
    if (point[0] > 0.5) {  // where the bottom would be
      trial.state = Trial::State::kInfeasible;
      trial.values.clear();
      failed_late += id > 20 ? 1 : 0;
    }
    trials.push_back(std::move(trial));
  }
  EXPECT_LE(failed_late, 10);
}

TEST(Tuner, StandsEveryKindOfResult) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const StudySpec spec = Study({kRate, kKind}, 100);
  Tuner tuner(spec);
  std::vector<Trial> trials;
  const std::vector<std::vector<double>> results{{1},       {nan},    {inf},  {-inf},  {},      {1e308},
                                                 {-1e308},  {1e-320}, {0, 3}, {1e200}, {5e307}, {nan},
                                                 {-1e-300}, {2},      {2},    {2}};
  for (std::size_t i = 0; i < 3 * results.size(); ++i) {
    const auto points = tuner.Suggest(trials, 1);
    ASSERT_EQ(points.size(), 1);
    ASSERT_TRUE(IsIn(spec.space, points[0]));
    trials.push_back(Ended(static_cast<int>(i) + 1, points[0], results[i % results.size()]));
  }
  trials.push_back(Ended(0, {nan, nan}, {1}));
  trials.push_back(Ended(0, {1e9, 17}, {1}));
  trials.push_back(Ended(0, {}, {1}));
  trials.push_back(Ended(0, {1, 2, 3}, {1}));
  EXPECT_TRUE(IsIn(spec.space, tuner.Suggest(trials, 1).at(0)));
}

TEST(Tuner, StartsFromAResumedStudy) {
  const StudySpec spec = Study({kX, kX}, 5);
  auto before = Tuned(Study({kX, kX}, 30), 30, [](const Point& p) { return std::vector{Bowl(p)}; });
  for (Trial& trial : before) trial.id = 0;
  EXPECT_LT(Bowl(Tuner(spec).Suggest(before, 1)[0]), 0.1);
}

TEST(Tuner, EqualResultsEverywhereAreNoObstacle) {
  const auto trials = Tuned(Study({kX, kKind}, 20), 20, [](const Point&) { return std::vector{0.25}; });
  EXPECT_EQ(trials.size(), 20);
}

TEST(Tuner, ApproachesAllOfAParetoFront) {
  StudySpec spec = Study({kX, kX}, 40);
  spec.metrics = {{"first", false}, {"second", true}};
  const auto trials = Tuned(spec, 40, [](const Point& p) {
    return std::vector{std::pow(p[0] - 2, 2) + p[1] * p[1], -(std::pow(p[0] + 2, 2) + p[1] * p[1])};
  });
  // The front is y = 0, x from -2 to 2.
  int low = 0;
  int high = 0;
  for (std::size_t i = 20; i < trials.size(); ++i) {
    const Point& p = trials[i].point;
    if (std::abs(p[1]) > 0.5) continue;
    low += p[0] > -2.2 && p[0] < 0 ? 1 : 0;
    high += p[0] >= 0 && p[0] < 2.2 ? 1 : 0;
  }
  EXPECT_GE(low, 3);
  EXPECT_GE(high, 3);
}

TEST(Tuner, RepeatsAPointOnlyWhereResultsAreNoisy) {
  const Parameter units{.name = "units", .type = Type::kInteger, .min = 1, .max = 60};
  for (const Noise noise : {Noise::kLow, Noise::kHigh}) {
    StudySpec spec = Study({units});
    spec.noise = noise;
    Random random(1, 1);
    const auto trials = Tuned(spec, 40, [&](const Point& p) {
      return std::vector{std::abs(p[0] - 20) + (noise == Noise::kHigh ? 3 * random.Normal() : 0)};
    });
    std::set<Point> different;
    for (const Trial& trial : trials) different.insert(trial.point);
    if (noise == Noise::kLow) {
      EXPECT_EQ(different.size(), 40);
    } else {
      EXPECT_LT(different.size(), 40);
    }
  }
}

TEST(Tuner, GridEndsWhenItIsThrough) {
  StudySpec spec = Study({kLayers, kKind});
  spec.algorithm = Algorithm::kGrid;
  const auto trials = Tuned(spec, 100, [](const Point&) { return std::vector{0.0}; });
  ASSERT_EQ(trials.size(), 18);
  EXPECT_EQ(trials[0].point, (Point{1, 0}));
  EXPECT_EQ(trials[17].point, (Point{6, 2}));
  EXPECT_EQ(Tuner(spec).Suggest({}, 100).size(), 18);
}

TEST(Tuner, RandomSearchIsUniformOnTheScale) {
  StudySpec spec = Study({kRate});
  spec.algorithm = Algorithm::kRandom;
  int below = 0;
  for (const Point& point : Tuner(spec).Suggest({}, 1000)) below += point[0] < std::sqrt(1e-5) ? 1 : 0;
  EXPECT_NEAR(below, 500, 60);
}

TEST(Tuner, ThousandsOfTrialsAreFewEnough) {
  const StudySpec spec = Study({kX, kX, kX}, 20000);
  Random random(3, 3);
  std::vector<Trial> trials;
  for (int id = 1; id <= 5000; ++id) {
    Point point{10 * random.Uniform() - 5, 10 * random.Uniform() - 5, 10 * random.Uniform() - 5};
    trials.push_back(Ended(id, point, {Bowl(point) + point[2] * point[2]}));
  }
  const auto points = Tuner(spec).Suggest(trials, 2);
  ASSERT_EQ(points.size(), 2);
  EXPECT_LT(std::min(Bowl(points[0]), Bowl(points[1])), 1);
}

#if __has_feature(address_sanitizer)
constexpr std::uint64_t kSpaces = 500;
#else
constexpr std::uint64_t kSpaces = 10000;
#endif

Parameter RandomParameter(Random& random, const Space& space) {
  Parameter p{.name = "p"};
  p.type = static_cast<Type>(random.Below(4));
  p.scale = p.type == Type::kCategorical ? Scale::kLinear : static_cast<Scale>(random.Below(3));
  const bool positive = p.scale != Scale::kLinear;
  const auto edge = [&] {
    return std::pow(10, 12 * random.Uniform() - 6) * (positive || random.Uniform() < 0.5 ? 1 : -1);
  };
  p.min = edge();
  p.max = random.Uniform() < 0.1 ? p.min : p.min + std::abs(edge());
  if (p.type == Type::kInteger) {
    p.min = std::ceil(p.min);
    p.max = p.min + std::ceil(std::min(1e9, p.max - p.min));
  }
  for (double i = random.Below(6); p.type == Type::kDiscrete && i >= 0; i -= 1) {
    p.discrete.push_back((p.discrete.empty() ? p.min : p.discrete.back()) + std::abs(edge()) + 1e-3);
  }
  for (double i = random.Below(8); p.type == Type::kCategorical && i >= 0; i -= 1) {
    p.categories.push_back("c" + std::to_string(p.categories.size()));
  }
  if (!space.parameters.empty() && random.Uniform() < 0.3) {
    const auto parent = static_cast<std::size_t>(random.Below(static_cast<double>(space.parameters.size())));
    const double count = ValueCount(space.parameters[parent]);
    if (count < 1e6) {
      p.condition = Parameter::Condition{static_cast<int>(parent),
                                         {ValueAt(space.parameters[parent], random.Below(count))}};
    }
  }
  return p;
}

TEST(Tuner, SuggestsPointsOfTheSpaceWhateverTheSpace) {
  for (std::uint64_t seed = 1; seed <= kSpaces; ++seed) {
    Random random(seed, 99);
    StudySpec spec = Study({}, static_cast<int>(random.Below(30)));
    for (double i = random.Below(5); i >= 0; i -= 1) {
      spec.space.parameters.push_back(RandomParameter(random, spec.space));
    }
    spec.noise = static_cast<Noise>(random.Below(3));
    spec.algorithm = static_cast<Algorithm>(random.Below(3));
    if (random.Uniform() < 0.2) spec.metrics.push_back({"other", true});
    Tuner tuner(spec);
    std::vector<Trial> trials;
    for (int id = 1; id <= 6; ++id) {
      for (const Point& point : tuner.Suggest(trials, id == 6 ? 2 : 3)) {
        ASSERT_TRUE(IsIn(spec.space, point)) << "space of seed " << seed;
        trials.push_back(Ended(id, point, {random.Normal(), random.Normal()}));
        trials.back().state = static_cast<Trial::State>(random.Uniform() < 0.7 ? 1 : random.Below(4));
      }
      id += 2;
    }
  }
}

}  // namespace
}  // namespace trainyard::tuning
