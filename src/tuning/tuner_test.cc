#include "tuning/tuner.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::tuning {
namespace {

StudySpec Bowl() {
  return {.space = {{{.name = "x", .min = -5, .max = 5}, {.name = "y", .min = -5, .max = 5}}},
          .metrics = {{"loss", false}},
          .trials_planned = 30};
}

double Loss(const Point& point) { return std::pow(point[0] - 1, 2) + 3 * std::pow(point[1] + 2, 2); }

Trial Completed(int id, Point point, double value) {
  return {
      .id = id, .point = std::move(point), .state = Trial::State::kCompleted, .values = {value}, .curve = {}};
}

TEST(Tuner, FindsTheBottomOfABowl) {
  Tuner tuner(Bowl());
  std::vector<Trial> trials;
  double best = 1e9;
  for (int id = 1; id <= 30; ++id) {
    const auto points = tuner.Suggest(trials, 1);
    ASSERT_EQ(points.size(), 1);
    best = std::min(best, Loss(points[0]));
    trials.push_back(Completed(id, points[0], Loss(points[0])));
  }
  EXPECT_LT(best, 1e-4);
}

TEST(Tuner, GridEndsWhenItIsThrough) {
  StudySpec spec{.space = {{{.name = "n", .type = Parameter::Type::kInteger, .min = 1, .max = 3}}},
                 .metrics = {{"loss", false}},
                 .algorithm = Algorithm::kGrid};
  Tuner tuner(spec);
  const auto points = tuner.Suggest({}, 5);
  EXPECT_EQ(points, (std::vector<Point>{{1}, {2}, {3}}));
  std::vector<Trial> trials;
  for (const Point& point : points) trials.push_back(Completed(1, point, 0));
  EXPECT_TRUE(tuner.Suggest(trials, 1).empty());
}

}  // namespace
}  // namespace trainyard::tuning
