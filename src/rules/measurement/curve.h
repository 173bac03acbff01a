#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::measurement {

/// The maximum number of measurements in a report. Beyond it they are thinned out; see Curve.
inline constexpr int kMeasurementsMax = 1000;

/// The measurements of one tag, by step, then time. A new one with the same step and time replaces the older
/// one. If there are more than kMeasurementsMax, the ones closest to their neighbours are dropped, but never
/// the first, the last, the smallest or the largest. This is not ExtremesOf, which is for charts and keeps
/// the noise: here the curve still grows, and readers compare curves at the same steps. Pure; one thread at a
/// time.
class Curve {
 public:
  /// @param time_s  seconds since 1970, from the program; values that are not finite count as 0. Returns true
  /// if the measurement is new.
  bool Add(std::int64_t step, double time_s, double value);

  [[nodiscard]] bool empty() const noexcept { return points_.empty(); }
  /// The latest time of any measurement.
  [[nodiscard]] double newest_s() const noexcept { return newest_s_; }
  /// Replaces the report's measurements by those of the curve.
  void Print(replica::v1::MetricReport& report) const { Print(*report.mutable_measurements()); }
  /// Adds the curve to the report as that of a further tag, unless it is empty.
  void PrintFurther(const std::string& tag, replica::v1::MetricReport& report) const;

 private:
  using Key = std::pair<std::int64_t, double>;  ///< step, time
  using Points = std::map<Key, double>;
  static void ThinOut(Points& points);
  void Print(google::protobuf::RepeatedPtrField<replica::v1::Measurement>& measurements) const;

  Points points_;
  double newest_s_ = 0;
};

}  // namespace trainyard::measurement
