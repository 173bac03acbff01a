#include "control/curves/job_curves.h"

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/wire/json.h"

namespace trainyard::curves {
namespace {

using control::v1::ScalarCurves;

ScalarCurves Read(const std::string& json) {
  ScalarCurves curves;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &curves);
  EXPECT_TRUE(status.ok()) << status.ToString() << json;
  return curves;
}

/// Both printers give the same result.
void ExpectSame(const ScalarCurves& curves) {
  const ScalarCurves own = Read(PrintCurves(curves));
  const ScalarCurves protos = Read(wire::PrintJson(curves));
  google::protobuf::util::MessageDifferencer differencer;
  std::string report;
  google::protobuf::util::DefaultFieldComparator comparator;
  comparator.set_treat_nan_as_equal(true);
  differencer.set_field_comparator(&comparator);
  differencer.ReportDifferencesToString(&report);
  EXPECT_TRUE(differencer.Compare(own, protos)) << report;
  EXPECT_TRUE(differencer.Compare(own, curves)) << report;
}

TEST(PrintCurves, SaysWhatProtobufsPrinterSays) {
  ScalarCurves curves;
  ExpectSame(curves);
  curves.set_reading(true);
  ExpectSame(curves);
  auto& curve = *curves.add_curves();
  curve.mutable_name()->set_job_id("job");
  curve.mutable_name()->set_tag("a \"tag\" <b>\n\\ \xe2\x80\xae");
  ExpectSame(curves);
  curve.set_points(std::numeric_limits<std::int64_t>::max());
  for (const double value :
       {0.0, -0.0, 1.0, 1e21, 1e-7, 1764000000.123, 0.1, 123456789012345678.0,
        std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(),
        std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()}) {
    curve.add_steps(value);
    curve.add_times(value);
    const bool fits = !std::isfinite(value) || std::abs(value) <= std::numeric_limits<float>::max();
    curve.add_values(fits ? static_cast<float>(value) : 0.3F);
  }
  *curves.add_curves() = curve;
  curves.add_curves();
  ExpectSame(curves);
}

TEST(PrintCurves, OmitsWhatIsNotThere) {
  ScalarCurves curves;
  EXPECT_EQ(PrintCurves(curves), "{}\n");
  auto& curve = *curves.add_curves();
  curve.mutable_name()->set_tag("loss");
  EXPECT_EQ(PrintCurves(curves), "{\"curves\":[{\"name\":{\"tag\":\"loss\"}}]}\n");
  curve.add_steps(1);
  curve.add_times(1764000000.5);
  curve.add_values(0.1F);
  curve.set_points(1);
  EXPECT_EQ(
      PrintCurves(curves),
      "{\"curves\":[{\"name\":{\"tag\":\"loss\"},\"steps\":[1],\"times\":[1764000000.5],\"values\":[0.1],"
      "\"points\":\"1\"}]}\n");
}

}  // namespace
}  // namespace trainyard::curves
