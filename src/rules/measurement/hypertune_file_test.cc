#include "rules/measurement/hypertune_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace trainyard::measurement {
namespace {

using testing::ElementsAre;

struct Point {
  std::int64_t step;
  double time;
  double value;
  friend bool operator==(const Point& a, const Point& b) {
    return a.step == b.step && a.time == b.time &&
           (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)));
  }
  friend void PrintTo(const Point& point, std::ostream* out) {
    *out << point.step << "@" << point.time << "=" << point.value;
  }
};

std::vector<Point> Points(const HypertuneFile& file) {
  replica::v1::MetricReport report;
  file.curves().front().Print(report);
  std::vector<Point> points;
  for (const auto& one : report.measurements())
    points.push_back(
        {one.step(), static_cast<double>(one.time().seconds()) + one.time().nanos() * 1e-9, one.value()});
  return points;
}

std::string Line(int step, const std::string& value, const std::string& tag = "acc") {
  return R"({")" + tag + R"(": ")" + value + R"(", "checkpoint_path": "", "global_step": ")" +
         std::to_string(step) + R"(", "timestamp": )" + std::to_string(1000 + step) + R"(.5, "trial": "3"})" +
         "\n";
}

struct Row {
  const char* name;
  const char* line;
  std::vector<Point> points;
};
class HypertuneLine : public testing::TestWithParam<Row> {};
TEST_P(HypertuneLine, IsRead) {
  HypertuneFile file({"acc"});
  file.Read(GetParam().line);
  EXPECT_EQ(Points(file), GetParam().points);
}
const double kNan = std::nan("");
const double kInf = HUGE_VAL;
INSTANTIATE_TEST_SUITE_P(
    Rules, HypertuneLine,
    testing::Values(
        Row{"as_hypertune_writes",
            R"({"acc": "0.25", "checkpoint_path": "", "global_step": "7", "timestamp": 12.5, "trial": "1"})",
            {{7, 12.5, 0.25}}},
        Row{"exponent", R"({"acc": "1e-05", "global_step": "0", "timestamp": 2})", {{0, 2, 1e-5}}},
        Row{"numbers", R"({"acc": 3, "global_step": 8, "timestamp": "2"})", {{8, 2, 3}}},
        Row{"float_step", R"({"acc": 3, "global_step": "1e2", "timestamp": 2})", {{100, 2, 3}}},
        Row{"huge_step", R"({"acc": 3, "global_step": 1e300, "timestamp": 2})", {{0, 2, 3}}},
        Row{"nan", R"({"acc": "nan", "global_step": "1", "timestamp": 2})", {{1, 2, kNan}}},
        Row{"minus_inf", R"({"acc": "-inf", "global_step": "1", "timestamp": 2})", {{1, 2, -kInf}}},
        Row{"bare_nan", R"({"acc": NaN, "global_step": "1", "timestamp": 2})", {{1, 2, kNan}}},
        Row{"bare_infinity",
            R"({"say \"NaN": "x", "acc": -Infinity, "global_step": 1, "timestamp": 2})",
            {{1, 2, -kInf}}},
        Row{"no_step_no_time", R"({"acc": 1})", {{0, 0, 1}}},
        Row{"no_number", R"({"acc": "good", "global_step": "1", "timestamp": 2})", {}},
        Row{"not_a_scalar", R"({"acc": [1], "global_step": "1", "timestamp": 2})", {}},
        Row{"torn", R"({"acc": "0.25", "checkpoint_path": "", "glo)", {}}, Row{"not_json", "acc=3", {}},
        Row{"not_an_object", "[1]", {}}, Row{"empty", "", {}}),
    [](const auto& row) { return row.param.name; });

TEST(HypertuneFile, KeepsWhatRewritesDropped) {
  HypertuneFile file({"acc"});
  constexpr int kReports = 350;
  for (int now = 0; now < kReports; ++now) {
    std::string contents;
    for (int step = std::max(0, now - 99); step <= now; ++step) contents += Line(step, std::to_string(step));
    file.Read(contents);
  }
  const auto points = Points(file);
  ASSERT_EQ(points.size(), static_cast<std::size_t>(kReports));
  EXPECT_EQ(points.front(), (Point{0, 1000.5, 0}));
  EXPECT_EQ(points.back(), (Point{kReports - 1, 1000.5 + kReports - 1, kReports - 1}));
}

TEST(HypertuneFile, KnowsWhatIsNew) {
  HypertuneFile file({"acc"});
  EXPECT_FALSE(file.Read(""));
  EXPECT_TRUE(file.Read(Line(1, "0.1")));
  EXPECT_FALSE(file.Read(Line(1, "0.1")));
  EXPECT_TRUE(file.Read(Line(1, "0.1", "loss")));
  EXPECT_FALSE(file.Read(Line(1, "0.1", "loss")));
  EXPECT_TRUE(file.Read(Line(1, "0.1") + Line(2, "0.1")));
}

TEST(HypertuneFile, ATornReadIsMadeGoodByTheNext) {
  HypertuneFile file({"acc"});
  const std::string whole = Line(1, "0.1") + Line(2, "0.2");
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) file.Read(whole.substr(0, cut));
  EXPECT_THAT(Points(file), ElementsAre(Point{1, 1001.5, 0.1}, Point{2, 1002.5, 0.2}));
}

TEST(HypertuneFile, ReportsWithoutStepsAreInTheOrderOfTheirTimes) {
  HypertuneFile file({"acc"});
  file.Read(R"({"acc": "0.1", "global_step": "0", "timestamp": 5})"
            "\n"
            R"({"acc": "0.2", "global_step": "0", "timestamp": 3})"
            "\n");
  EXPECT_THAT(Points(file), ElementsAre(Point{0, 3, 0.2}, Point{0, 5, 0.1}));
}

TEST(HypertuneFile, SaysWhichOtherTagsThereAre) {
  HypertuneFile file({"acc"});
  file.Read(Line(1, "0.1", "loss") + Line(1, "0.1", "training/hptuning/metric"));
  EXPECT_TRUE(file.curves().front().empty());
  EXPECT_THAT(file.seen_tags(), ElementsAre("loss", "training/hptuning/metric"));
}

TEST(HypertuneFile, NamesAFewTagsOnly) {
  HypertuneFile file({"acc"});
  for (int i = 0; i < 100; ++i) file.Read(Line(1, "0.1", std::string(1000, 'x') + std::to_string(i)));
  for (int i = 0; i < 100; ++i) file.Read(Line(1, "0.1", std::to_string(i)));
  EXPECT_EQ(file.seen_tags().size(), 20U);
  for (const std::string& tag : file.seen_tags()) EXPECT_LE(tag.size(), 128U);
}

TEST(HypertuneFile, SeveralTagsComeAsSeveralLinesOrKeys) {
  HypertuneFile file({"acc", "loss", "auc"});
  EXPECT_TRUE(file.Read(Line(1, "0.5") + Line(1, "2", "loss") + Line(1, "7", "other")));
  EXPECT_TRUE(file.Read(R"({"acc": 0.75, "loss": 1, "auc": "high", "global_step": 2, "timestamp": 2000})"));
  EXPECT_FALSE(file.Read(Line(1, "2", "loss")));
  replica::v1::MetricReport report;
  file.Print(report);
  EXPECT_EQ(report.measurements_size(), 2);
  ASSERT_EQ(report.further_size(), 1);
  EXPECT_EQ(report.further(0).tag(), "loss");
  EXPECT_EQ(report.further(0).measurements(0).value(), 2);
  EXPECT_EQ(report.further(0).measurements(1).step(), 2);
  EXPECT_THAT(file.seen_tags(), ElementsAre("auc", "other"));
}

}  // namespace
}  // namespace trainyard::measurement
