#include "rules/measurement/hypertune_tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rules/measurement/report.h"

namespace trainyard::measurement {
namespace {

using replica::v1::MetricReport;
using testing::ElementsAre;
using testing::IsEmpty;

std::string Line(const std::string& tag, int step, const std::string& value, int second) {
  return R"({")" + tag + R"(": ")" + value + R"(", "global_step": ")" + std::to_string(step) +
         R"(", "timestamp": )" + std::to_string(second) + "}\n";
}

/// "acc 1=0.5 2=1"
std::vector<std::string> Texts(const std::vector<MetricReport>& reports) {
  std::vector<std::string> texts;
  for (const MetricReport& report : reports) {
    std::string text(TagOf(report));
    for (const auto& one : report.measurements())
      text += " " + std::to_string(one.step()) + "=" + std::to_string(one.value()).substr(0, 3);
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(HypertuneTags, KeepsEachTagsCurve) {
  HypertuneTags tags("");
  EXPECT_FALSE(tags.changed());
  tags.Read(Line("acc", 1, "0.5", 10) + Line("loss", 1, "2", 11) + Line("acc", 2, "1", 12));
  EXPECT_TRUE(tags.changed());
  EXPECT_THAT(Texts(tags.TakeChanged()), ElementsAre("acc 1=0.5 2=1.0", "loss 1=2.0"));
  EXPECT_FALSE(tags.changed());
  tags.Read(Line("loss", 1, "2", 11) + Line("acc", 2, "1", 12) + Line("loss", 3, "nan", 13));
  EXPECT_THAT(Texts(tags.TakeChanged()), ElementsAre("loss 1=2.0 3=nan")) << "acc is as it was";
  EXPECT_THAT(Texts(tags.All()), ElementsAre("acc 1=0.5 2=1.0", "loss 1=2.0 3=nan"));
}

TEST(HypertuneTags, KnowsTheNewestValueOfAll) {
  HypertuneTags tags("");
  EXPECT_TRUE(tags.last().measurements().empty());
  tags.Read(Line("acc", 9, "0.5", 12) + Line("loss", 1, "2", 11));
  EXPECT_THAT(Texts({tags.last()}), ElementsAre("acc 9=0.5"));
  tags.Read(Line("loss", 2, "3", 12));
  EXPECT_THAT(Texts({tags.last()}), ElementsAre("loss 2=3.0"));
}

TEST(HypertuneTags, LeavesOutWhatIsNoneOfItsOwn) {
  HypertuneTags tags("acc");
  tags.Read(Line("acc", 1, "1", 10) + Line("word", 1, "two", 10) + Line("", 1, "1", 10));
  EXPECT_FALSE(tags.changed());
  EXPECT_THAT(tags.All(), IsEmpty());
}

TEST(HypertuneTags, HasLimits) {
  HypertuneTags tags("");
  std::string lines;
  for (std::size_t i = 0; i < kReportedTagsMax + 5; ++i)
    lines +=
        Line(std::string(2 * kTagBytesMax, static_cast<char>('!' + i % 90)) + std::to_string(i), 1, "1", 10);
  for (std::size_t i = 0; i < kReportedTagsMax + 5; ++i) lines += Line("t" + std::to_string(i), 1, "1", 10);
  for (int i = 0; i < 5 * kMeasurementsMax; ++i) lines += Line("t0", i, "1", 10);
  tags.Read(lines);
  EXPECT_EQ(tags.All().size(), kReportedTagsMax);
  for (const MetricReport& report : tags.All()) {
    EXPECT_LE(TagOf(report).size(), kTagBytesMax);
    EXPECT_LE(report.measurements_size(), kMeasurementsMax);
  }
}

TEST(TagOf, TellsATrialsReportFromATags) {
  EXPECT_EQ(TagOf(ReportOfTag("acc")), "acc");
  MetricReport trials;
  trials.add_seen_tags("loss");
  trials.add_places(std::string(kMetricFile));
  EXPECT_EQ(TagOf(trials), "");
  EXPECT_EQ(TagOf({}), "");
}

}  // namespace
}  // namespace trainyard::measurement
