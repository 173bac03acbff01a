#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace trainyard::measurement {

/// A curve as columns of one length, by step, then time. Pure: any thread.
struct Columns {
  std::vector<double> steps;
  std::vector<double> times;  ///< seconds since 1970
  std::vector<float> values;  ///< may be NaN or infinite

  [[nodiscard]] std::size_t size() const noexcept { return values.size(); }
  [[nodiscard]] bool empty() const noexcept { return values.empty(); }
  void Append(double step, double time_s, float value);
  friend bool operator==(const Columns&, const Columns&) = default;
};

/// What one point takes in memory.
inline constexpr std::size_t kPointBytes = 2 * sizeof(double) + sizeof(float);

/// Sorted by step, then time. Of points of the same step and time the one that came last stays.
[[nodiscard]] Columns Ordered(Columns columns);

/// Which part of a curve is wanted; both ends belong to it.
struct Range {
  enum class Axis { kStep, kTime };
  Axis axis = Axis::kStep;
  double from = -std::numeric_limits<double>::infinity();
  double to = std::numeric_limits<double>::infinity();
};

/// A part of a curve, thinned.
struct Part {
  Columns columns;
  std::size_t points = 0;  ///< within the range, before thinning
};

/// The points within the range; of more than `points_max` those that ExtremesOf keeps.
[[nodiscard]] Part PartOf(const Columns& ordered, const Range& range, std::size_t points_max);

}  // namespace trainyard::measurement
