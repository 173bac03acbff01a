#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::measurement {

/// What a report holds at most. Beyond it measurements are thinned out; see Curve.
inline constexpr int kMeasurementsMax = 1000;

/// The measurements of one tag, by step, then time. One of the same step and time replaces the older one. Of
/// more than kMeasurementsMax those are dropped that lie closest to their neighbours, never the first, the
/// last, the smallest or the largest: not ExtremesOf, which a chart wants and which keeps the noise. Here the
/// curve still grows, and who reads it compares curves at the same steps. Pure; one thread at a time.
class Curve {
 public:
  /// @param time_s  seconds since 1970 as the program says; what is not finite counts as 0.
  /// True: that was not known.
  bool Add(std::int64_t step, double time_s, double value);

  [[nodiscard]] bool empty() const noexcept { return points_.empty(); }
  /// The latest time of any measurement.
  [[nodiscard]] double newest_s() const noexcept { return newest_s_; }
  /// Replaces the report's measurements.
  void Print(replica::v1::MetricReport& report) const;

 private:
  using Key = std::pair<std::int64_t, double>;  ///< step, time
  using Points = std::map<Key, double>;
  static void ThinOut(Points& points);

  Points points_;
  double newest_s_ = 0;
};

}  // namespace trainyard::measurement
