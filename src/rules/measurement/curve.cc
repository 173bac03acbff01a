#include "rules/measurement/curve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/wire/time.h"

namespace trainyard::measurement {

using replica::v1::Measurement;
using replica::v1::MetricReport;

namespace {

/// A fifth is thinned out at a time, so that earlier parts stay as dense as later ones.
constexpr std::size_t kPointsMax = kMeasurementsMax + kMeasurementsMax / 4;
/// Times outside of Timestamp's range count as 0.
constexpr double kTimeMax = 9e9;

SysTime TimeOf(double seconds) {
  const double whole = std::floor(seconds);
  const auto nanoseconds = static_cast<std::int64_t>(std::llround((seconds - whole) * 1e9));
  return SysTime(std::chrono::seconds(static_cast<std::int64_t>(whole))) +
         std::chrono::nanoseconds(nanoseconds);
}

}  // namespace

bool Curve::Add(std::int64_t step, double time_s, double value) {
  if (!std::isfinite(time_s) || std::abs(time_s) > kTimeMax) time_s = 0;
  const bool is_new = points_.insert_or_assign({step, time_s}, value).second;
  newest_s_ = std::max(newest_s_, time_s);
  if (points_.size() > kPointsMax) ThinOut(points_);
  return is_new;
}

/// Leaves kMeasurementsMax of at most kPointsMax.
void Curve::ThinOut(Points& points) {
  std::vector<Points::iterator> order;
  for (auto point = points.begin(); point != points.end(); ++point) order.push_back(point);
  std::size_t smallest = 0;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double value = order[i]->second;
    if (value < order[smallest]->second || std::isnan(order[smallest]->second)) smallest = i;
    if (value > order[largest]->second || std::isnan(order[largest]->second)) largest = i;
  }
  const bool by_step = order.front()->first.first < order.back()->first.first;
  const auto place = [&](std::size_t i) {
    return by_step ? static_cast<double>(order[i]->first.first) : order[i]->first.second;
  };
  std::vector<std::pair<double, std::size_t>>
      gaps;  // every second point: no two neighbours are removed at once
  for (std::size_t i = 1; i + 1 < order.size(); i += 2) {
    if (i != smallest && i != largest) gaps.emplace_back(place(i + 1) - place(i - 1), i);
  }
  const std::size_t excess = points.size() - kMeasurementsMax;
  std::ranges::nth_element(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(excess));
  for (std::size_t i = 0; i < excess; ++i) points.erase(order[gaps[i].second]);
}

void Curve::PrintFurther(const std::string& tag, replica::v1::MetricReport& report) const {
  if (empty()) return;
  MetricReport::Further& further = *report.add_further();
  further.set_tag(tag);
  Print(*further.mutable_measurements());
}

void Curve::Print(google::protobuf::RepeatedPtrField<Measurement>& measurements) const {
  measurements.Clear();
  Points points = points_;
  if (points.size() > kMeasurementsMax) ThinOut(points);
  for (const auto& [key, value] : points) {
    Measurement& measurement = *measurements.Add();
    measurement.set_step(key.first);
    measurement.set_value(value);
    *measurement.mutable_time() = wire::ToProto(TimeOf(key.second));
  }
}

}  // namespace trainyard::measurement
