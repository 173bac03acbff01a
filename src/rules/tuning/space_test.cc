#include "rules/tuning/space.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rules/tuning/tuner.h"
#include "rules/tuning/values.h"

namespace trainyard::tuning {
namespace {

using Type = Parameter::Type;

const Parameter kDoubleParameter{.name = "x", .min = 0, .max = 1e9};
const Parameter kIntegerParameter{.name = "n", .type = Type::kInteger, .min = -5, .max = 100000};
const Parameter kDiscreteParameter{.name = "b", .type = Type::kDiscrete, .discrete = {0.5, 16, 32}};
const Parameter kCategoryParameter{.name = "c", .type = Type::kCategorical, .categories = {"relu", "tanh"}};

struct TextRow {
  const char* name;
  Parameter parameter;
  double value;
  const char* text;
};
class Text : public testing::TestWithParam<TextRow> {};
TEST_P(Text, IsWhatTheCommandLineShows) {
  EXPECT_EQ(ValueText(GetParam().parameter, GetParam().value), GetParam().text);
}
INSTANTIATE_TEST_SUITE_P(Values, Text,
                         testing::Values(TextRow{"shortest", kDoubleParameter, 0.1, "0.1"},
                                         TextRow{"all_digits", kDoubleParameter, 0.1 + 0.2,
                                                 "0.30000000000000004"},
                                         TextRow{"small", kDoubleParameter, 1e-7, "1e-07"},
                                         TextRow{"whole_double", kDoubleParameter, 3, "3"},
                                         TextRow{"negative_zero", kDoubleParameter, -0.0, "0"},
                                         TextRow{"integer", kIntegerParameter, 100000, "100000"},
                                         TextRow{"negative", kIntegerParameter, -5, "-5"},
                                         TextRow{"whole_discrete", kDiscreteParameter, 32, "32"},
                                         TextRow{"discrete", kDiscreteParameter, 0.5, "0.5"},
                                         TextRow{"category", kCategoryParameter, 1, "tanh"}),
                         [](const auto& row) { return row.param.name; });

// A parent whose second category has two children, one of them with a child of its own.
Space Conditional() {
  Parameter child = kDiscreteParameter;
  child.name = "child";
  child.condition = {.parent = 0, .values = {1}};
  Parameter grandchild = kCategoryParameter;
  grandchild.name = "grandchild";
  grandchild.condition = {.parent = 1, .values = {0.5, 32}};
  Parameter other{.name = "other", .type = Type::kInteger, .min = 1, .max = 2};
  other.condition = Parameter::Condition{.parent = 0, .values = {1}};
  return {{kCategoryParameter, child, grandchild, other}};
}

TEST(CountPoints, MultipliesAndAddsWhereAConditionHolds) {
  EXPECT_EQ(CountPoints({{kCategoryParameter, kDiscreteParameter}}), 6);
  EXPECT_EQ(CountPoints({{kCategoryParameter, kDoubleParameter}}), std::nullopt);
  EXPECT_EQ(CountPoints({{{.name = "one", .min = 2, .max = 2}}}), 1);
  EXPECT_EQ(CountPoints(Conditional()), 1 + (2 + 1 + 2) * 2);
  const Space big{std::vector<Parameter>(20, kIntegerParameter)};
  EXPECT_EQ(CountPoints(big), std::nullopt);
}

TEST(Grid, VisitsAsManyPointsAsAreCounted) {
  const Space space = Conditional();
  double count = 0;
  for (auto point = std::optional(FirstPoint(space)); point; point = NextPoint(space, *point)) {
    count += 1;
    for (std::size_t i = 0; i < point->size(); ++i) {
      EXPECT_EQ(std::isnan((*point)[i]), !IsActive(space, *point, i));
    }
  }
  EXPECT_EQ(count, CountPoints(space));
}

TEST(Values, GoToTheScaleAndBack) {
  for (const Scale scale : {Scale::kLinear, Scale::kLog, Scale::kReverseLog}) {
    const Parameter x{.name = "x", .scale = scale, .min = 1e-4, .max = 10};
    EXPECT_DOUBLE_EQ(FromUnit(x, 0), 1e-4);
    EXPECT_DOUBLE_EQ(FromUnit(x, 1), 10);
    for (const double value : {2e-4, 0.3, 5.0, 9.9}) EXPECT_NEAR(FromUnit(x, ToUnit(x, value)), value, 1e-9);
    const Parameter n{.name = "n", .type = Type::kInteger, .scale = scale, .min = 1, .max = 1000};
    for (double value = 1; value <= 1000; ++value) ASSERT_EQ(FromUnit(n, ToUnit(n, value)), value);
  }
  const Parameter log{.name = "x", .scale = Scale::kLog, .min = 1e-4, .max = 1};
  EXPECT_NEAR(FromUnit(log, 0.5), 1e-2, 1e-12);
  const Parameter reverse{.name = "x", .scale = Scale::kReverseLog, .min = 1e-4, .max = 1};
  EXPECT_NEAR(FromUnit(reverse, 0.5), 1 + 1e-4 - 1e-2, 1e-12);
  const Parameter wide{.name = "x", .min = -1.7e308, .max = 1.7e308};
  EXPECT_EQ(FromUnit(wide, 0.5), 0);
}

}  // namespace
}  // namespace trainyard::tuning
