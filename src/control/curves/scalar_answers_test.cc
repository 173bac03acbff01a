#include "control/curves/scalar_answers.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/wire/json.h"

namespace trainyard::curves {
namespace {

using measurement::Columns;
using measurement::Gathered;

Columns Line(int size) {
  Columns columns;
  for (int i = 0; i < size; ++i) columns.Append(i, 1'000 + i, static_cast<float>(i));
  return columns;
}

v1::ScalarQuery QueryOf(int names) {
  v1::ScalarQuery query;
  for (int i = 0; i < names; ++i) query.add_names()->set_tag("loss" + std::to_string(i));
  return query;
}

TEST(CheckQuery, RefusesManyJobsAndCurvesTwice) {
  v1::ScalarQuery query;
  for (std::size_t i = 0; i < kJobsMax; ++i) {
    for (const char* tag : {"loss", "acc"}) {
      query.add_names()->set_job_id("job" + std::to_string(i));
      query.mutable_names()->rbegin()->set_tag(tag);
    }
  }
  EXPECT_TRUE(CheckQuery(query).has_value());
  v1::ScalarQuery twice = query;
  *twice.add_names() = query.names(0);
  EXPECT_EQ(CheckQuery(twice).error(),
            InvalidArgument("names", "The curve loss of job job0 is named twice; name each curve once."));
  query.add_names()->set_job_id("another");
  EXPECT_EQ(
      CheckQuery(query).error(),
      InvalidArgument("names", "Curves of at most 50 jobs are answered at once; ask in several queries."));
}

/// The times of reports are not checked; those in event files are rounded when they are read.
TEST(ListSeries, TakesTimesThatAreNone) {
  measurement::Gathered gathered(false);
  Columns columns;
  columns.Append(1, std::numeric_limits<double>::quiet_NaN(), 1);
  gathered.Put({.tag = "loss"}, columns);
  v1::ScalarList list;
  ListSeries(gathered, "j", list);
  ASSERT_EQ(list.items_size(), 1);
  EXPECT_EQ(list.items(0).last_time().seconds(), 0);
}

TEST(CheckQuery, NamesTheField) {
  EXPECT_EQ(CheckQuery(QueryOf(0)).error().field, "names");
  EXPECT_EQ(CheckQuery(QueryOf(kNamesMax + 1)).error().field, "names");
  EXPECT_TRUE(CheckQuery(QueryOf(kNamesMax)).has_value());
  v1::ScalarQuery query = QueryOf(1);
  query.set_from(2);
  query.set_to(1);
  EXPECT_EQ(CheckQuery(query).error().field, "to");
  query.set_to(2);
  EXPECT_TRUE(CheckQuery(query).has_value());
  for (const int points : {-1, 7, kPointsMax + 1}) {
    query.set_points_max(points);
    EXPECT_EQ(CheckQuery(query).error().field, "points_max") << points;
  }
}

TEST(FillCurve, GivesThePointsThatAreAskedFor) {
  Gathered gathered(false);
  gathered.Put({.run = "eval", .tag = "loss"}, Line(10'000));
  v1::ScalarCurves::Curve curve;
  curve.mutable_name()->set_run("eval");
  curve.mutable_name()->set_tag("loss");
  v1::ScalarQuery query = QueryOf(1);
  FillCurve(gathered, query, curve);
  EXPECT_EQ(curve.points(), 10'000);
  EXPECT_LE(curve.values_size(), kPointsDefault);
  EXPECT_GT(curve.values_size(), kPointsDefault - 10);
  curve.clear_steps();
  curve.clear_times();
  curve.clear_values();
  query.set_axis(v1::ScalarQuery::TIME);
  query.set_from(1'010);
  query.set_to(1'012);
  FillCurve(gathered, query, curve);
  EXPECT_EQ(curve.points(), 3);
  EXPECT_EQ(curve.steps(0), 10);
  v1::ScalarCurves::Curve absent;
  absent.mutable_name()->set_tag("loss");
  FillCurve(gathered, query, absent);
  EXPECT_EQ(absent.points(), 0);
}

TEST(FillCurve, SharesTheAnswerAmongManyCurves) {
  Gathered gathered(false);
  gathered.Put({.tag = "loss"}, Line(10'000));
  v1::ScalarQuery query = QueryOf(kNamesMax);
  query.set_points_max(kPointsMax);
  v1::ScalarCurves::Curve curve;
  curve.mutable_name()->set_tag("loss");
  FillCurve(gathered, query, curve);
  EXPECT_LE(curve.values_size(), kPointsTogetherMax / kNamesMax);
}

TEST(ListSeries, HasTheLastPoint) {
  Gathered gathered(true);
  gathered.Put({.trial_id = "2", .tag = "acc", .hypertune = true}, Line(3));
  gathered.Put({.tag = "empty"}, {});
  v1::ScalarList list;
  ListSeries(gathered, "job", list);
  EXPECT_EQ(wire::PrintJsonCompact(list),
            "{\"items\":[{\"name\":{\"jobId\":\"job\",\"trialId\":\"2\",\"tag\":\"acc\",\"hypertune\":true},"
            "\"points\":\"3\",\"lastStep\":2,\"lastValue\":2,\"lastTime\":\"1970-01-01T00:16:42Z\"}]}");
}

TEST(ImageType, KnowsFourKinds) {
  EXPECT_EQ(ImageType("\x89PNG\r\n\x1a\n..."), "image/png");
  EXPECT_EQ(ImageType("\xff\xd8\xff\xe0"), "image/jpeg");
  EXPECT_EQ(ImageType("GIF89a"), "image/gif");
  EXPECT_EQ(ImageType("RIFF1234WEBPVP8 "), "image/webp");
  for (const char* other : {"", "<svg onload=alert(1)>", "<html>", "RIFF1234WAVEfmt ", "PNG"})
    EXPECT_EQ(ImageType(other), "") << other;
}

}  // namespace
}  // namespace trainyard::curves
