#include "rules/measurement/gathered.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rules/measurement/testing/event_bytes.h"

namespace trainyard::measurement {
namespace {

using testing::ElementsAre;

bool Read(Gathered& gathered, const std::string& path, const std::string& bytes, std::uint64_t id = 1,
          std::uint64_t bytes_max = std::numeric_limits<std::uint64_t>::max()) {
  const FileWindow::ReadAt read_at = [&bytes](std::uint64_t offset, std::span<char> buffer) {
    const std::size_t got = std::min<std::size_t>(buffer.size(), bytes.size() - offset);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), got, buffer.begin());
    return got;
  };
  const bool more = gathered.Read(path, {.id = id, .size = bytes.size()}, bytes_max, read_at);
  gathered.Settle();
  return more;
}

std::vector<SeriesName> NamesOf(const Gathered& gathered) {
  std::vector<SeriesName> names;
  for (const auto& [name, series] : gathered.series()) names.push_back(name);
  return names;
}

TEST(Gathered, NamesCurvesByFolder) {
  Gathered gathered(false);
  Read(gathered, "events.tfevents.1", EventBytes({"loss", 1, 1, 1}));
  Read(gathered, "2/eval/events.tfevents.1", EventBytes({"loss", 1, 1, 1}));
  EXPECT_THAT(NamesOf(gathered),
              ElementsAre(SeriesName{.tag = "loss"}, SeriesName{.run = "2/eval", .tag = "loss"}));
}

TEST(Gathered, NamesCurvesByTrialWhereThereAreSome) {
  Gathered gathered(true);
  Read(gathered, "2/eval/events.tfevents.1", EventBytes({"loss", 1, 1, 1}));
  Read(gathered, "2/events.tfevents.1", EventBytes({"loss", 1, 1, 1}));
  Read(gathered, "logs/events.tfevents.1", EventBytes({"loss", 1, 1, 1}));
  EXPECT_THAT(NamesOf(gathered), ElementsAre(SeriesName{.run = "logs", .tag = "loss"},
                                             SeriesName{.trial_id = "2", .tag = "loss"},
                                             SeriesName{.trial_id = "2", .run = "eval", .tag = "loss"}));
}

TEST(Gathered, OrdersWhatSeveralFilesSay) {
  Gathered gathered(false);
  Read(gathered, "b.tfevents.2", EventBytes({"loss", 3, 3, 30}) + EventBytes({"loss", 4, 4, 40}));
  Read(gathered, "a.tfevents.1", EventBytes({"loss", 1, 1, 10}) + EventBytes({"loss", 3, 3, 31}));
  EXPECT_EQ(gathered.series().at({.tag = "loss"}).columns,
            (Columns{.steps = {1, 3, 4}, .times = {1, 3, 4}, .values = {10, 31, 40}}));
  EXPECT_EQ(gathered.points(), 3U);
}

TEST(Gathered, BeginsAgainWithAnotherFileOfTheName) {
  Gathered gathered(false);
  const std::string first = EventBytes({"loss", 1, 1, 10}) + EventBytes({"loss", 2, 2, 20});
  Read(gathered, "a.tfevents.1", first);
  Read(gathered, "a.tfevents.1", first + EventBytes({"loss", 3, 3, 30}), 2);
  EXPECT_EQ(gathered.series().at({.tag = "loss"}).columns.size(), 3U);
  Read(gathered, "a.tfevents.1", EventBytes({"loss", 9, 9, 90}), 3);
  EXPECT_EQ(gathered.series().at({.tag = "loss"}).columns.steps.back(), 9);
}

TEST(Gathered, BeginsAgainWithALongerFileOfTheName) {
  Gathered gathered(false);
  Read(gathered, "a.tfevents.1", EventBytes({"loss", 1, 1, 10}));
  const std::string longer = EventBytes({"loss", 2, 2, 20}) + EventBytes({"loss", 3, 3, 30});
  Read(gathered, "a.tfevents.1", longer, 2);
  EXPECT_EQ(gathered.series().at({.tag = "loss"}).columns,
            (Columns{.steps = {1, 2, 3}, .times = {1, 2, 3}, .values = {10, 20, 30}}));
}

TEST(Gathered, ThinsTheLongestCurveWhenThereAreTooManyPoints) {
  Gathered gathered(false);
  Columns many;
  for (std::size_t i = 0; i < kPointsKeptMax; ++i) many.Append(static_cast<double>(i), 1, 0);
  many.values[12'345] = 7;
  gathered.Put({.tag = "long"}, std::move(many));
  EXPECT_FALSE(gathered.incomplete());
  Read(gathered, "a.tfevents.1", EventBytes({"loss", 1, 1, 10}));
  EXPECT_TRUE(gathered.incomplete());
  const Gathered::Series& thinned = gathered.series().at({.tag = "long"});
  EXPECT_LE(thinned.columns.size(), kPointsKeptMax / 2);
  EXPECT_THAT(thinned.columns.values, testing::Contains(7.0F));
  EXPECT_EQ(gathered.points(), thinned.columns.size() + 1);
  EXPECT_EQ(gathered.series().at({.tag = "loss"}).columns.size(), 1U);
}

TEST(Gathered, KeepsTheNewestTextsOfATag) {
  Gathered gathered(false);
  std::string bytes;
  for (int step = 0; step < 60; ++step) {
    tensorflow::Event event;
    event.set_step(step);
    tensorflow::Summary::Value& value = *event.mutable_summary()->add_value();
    value.set_tag("notes");
    value.mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
    value.mutable_tensor()->ParseFromString("\x08\x07\x42\x02hi");  // dtype: 7, string_val: "hi"
    bytes += RecordBytes(event.SerializeAsString());
  }
  Read(gathered, "a.tfevents.1", bytes);
  const auto& kept = gathered.summaries().at({.tag = "notes"});
  ASSERT_EQ(kept.size(), kSummariesOfTagMax);
  EXPECT_EQ(kept.front().value.step, 59);
  EXPECT_EQ(kept.back().value.step, 10);
  EXPECT_EQ(kept.front().file, "a.tfevents.1");
  EXPECT_TRUE(gathered.incomplete());
}

/// One event with one value of a plugin, as TensorFlow 2 writes it.
std::string PluginEvent(const std::string& tag, const std::string& plugin) {
  tensorflow::Event event;
  tensorflow::Summary::Value& value = *event.mutable_summary()->add_value();
  value.set_tag(tag);
  value.mutable_metadata()->mutable_plugin_data()->set_plugin_name(plugin);
  value.mutable_tensor()->ParseFromString("\x08\x07\x42\x02hi");
  return RecordBytes(event.SerializeAsString());
}

std::string LongTag(int number) { return std::to_string(number) + std::string(kTagShownBytes, 't'); }

TEST(Gathered, HoldsABoundedNumberOfBytes) {
  for (const char* kind : {"", "histograms", "text"}) {
    Gathered gathered(false);
    for (int file = 0; file < 10; ++file) {
      const std::string path = "run" + std::to_string(file) + "/a.tfevents.1";
      std::string bytes;
      for (int i = 0; i < 4'000; ++i)
        bytes += *kind == '\0' ? EventBytes({LongTag(i), 1, 1, 1}) : PluginEvent(LongTag(i), kind);
      Read(gathered, path, bytes);
    }
    EXPECT_LE(gathered.bytes(), kNamesBytesMax + gathered.points() * kPointBytes) << kind;
    EXPECT_GE(gathered.bytes(), std::size_t{5} << 20) << kind << ": they are counted";
    EXPECT_TRUE(gathered.incomplete() || kind == std::string("histograms")) << kind;
  }
}

TEST(Gathered, CountsWhatItKeepsAndForgets) {
  Gathered gathered(false);
  Read(gathered, "a.tfevents.1", PluginEvent("notes", "text"));
  const std::size_t once = gathered.bytes();
  std::string again;
  for (int i = 0; i < 100; ++i) again += PluginEvent("notes", std::string(5'000, 'x').replace(0, 4, "text"));
  Read(gathered, "a.tfevents.1", PluginEvent("notes", "text") + again, 2);
  EXPECT_EQ(gathered.bytes(), once) << "long names of plugins are not kept";
  Read(gathered, "a.tfevents.1", PluginEvent("notes", "text"), 3);
  EXPECT_EQ(gathered.bytes(), once) << "the same step of the same tag";
}

TEST(Gathered, TakesTagsThatAreNotText) {
  Gathered gathered(false);
  Read(gathered, "a.tfevents.1", EventBytes({"l\xffss", 1, 1, 1}));
  EXPECT_THAT(NamesOf(gathered), ElementsAre(SeriesName{.tag = "l\xef\xbf\xbdss"}));
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Columns Line(std::size_t size) {
  Columns columns;
  for (std::size_t i = 0; i < size; ++i)
    columns.Append(static_cast<double>(i), 1'000 + static_cast<double>(i), static_cast<float>(i % 10));
  return columns;
}

TEST(Columns, AreOrderedByStepThenTimeAndTheLastOfEqualsStays) {
  Columns columns;
  columns.Append(2, 1, 20);
  columns.Append(1, 5, 15);
  columns.Append(1, 4, 14);
  columns.Append(2, 1, 21);
  EXPECT_EQ(Ordered(columns), (Columns{.steps = {1, 1, 2}, .times = {4, 5, 1}, .values = {14, 15, 21}}));
}

TEST(PartOf, GivesAllWhereThereIsRoom) {
  const Columns line = Line(100);
  const Part part = PartOf(line, {}, 100);
  EXPECT_EQ(part.columns, line);
  EXPECT_EQ(part.points, 100U);
}

TEST(PartOf, KeepsFirstLastAndExtremes) {
  Columns line = Line(10'000);
  line.values[1'234] = 99;
  line.values[5'678] = -99;
  line.values[7'777] = kInfinity;
  const Part part = PartOf(line, {}, 200);
  EXPECT_EQ(part.points, 10'000U);
  EXPECT_LE(part.columns.size(), 200U);
  EXPECT_GT(part.columns.size(), 150U);
  EXPECT_EQ(part.columns.steps.front(), 0);
  EXPECT_EQ(part.columns.steps.back(), 9'999);
  for (const float extreme : {99.0F, -99.0F, kInfinity})
    EXPECT_THAT(part.columns.values, testing::Contains(extreme));
  EXPECT_TRUE(std::ranges::is_sorted(part.columns.steps));
}

TEST(PartOf, KeepsNaN) {
  Columns line = Line(1'000);
  line.values[500] = kNan;
  const Part part = PartOf(line, {}, 50);
  EXPECT_LE(part.columns.size(), 50U);
  EXPECT_EQ(std::ranges::count_if(part.columns.values, [](float value) { return std::isnan(value); }), 1);
}

TEST(PartOf, IsWholeInsideARange) {
  const Columns line = Line(10'000);
  const Part steps = PartOf(line, {.axis = Range::Axis::kStep, .from = 100, .to = 149}, 100);
  EXPECT_EQ(steps.points, 50U);
  EXPECT_EQ(steps.columns.steps.front(), 100);
  EXPECT_EQ(steps.columns.steps.back(), 149);
  const Part times = PartOf(line, {.axis = Range::Axis::kTime, .from = 1'010, .to = 1'011}, 100);
  EXPECT_EQ(times.columns.steps, (std::vector<double>{10, 11}));
  EXPECT_EQ(PartOf(line, {.axis = Range::Axis::kStep, .from = 1e9, .to = 2e9}, 100).points, 0U);
}

}  // namespace
}  // namespace trainyard::measurement
