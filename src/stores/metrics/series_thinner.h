#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stores/metrics/series.h"

namespace trainyard::metrics {

/// The number of points per series that may be requested; at least kExtremesMin.
inline constexpr std::size_t kThinnedPointsMax = 2'000;
/// Limits for all series together, while samples are added and in the result: with more series, each has
/// fewer points.
inline constexpr std::size_t kThinnedHeldMax = 1'000'000;
inline constexpr std::size_t kThinnedTogetherMax = 200'000;

/// Reduces the points to at most `points_max` (at least kExtremesMin), in their order. For a gauge, keeps
/// those of ExtremesOf; for bytes, adds up neighbours. Pure.
[[nodiscard]] std::vector<Point> Thin(Metric::Kind kind, std::vector<Point> points, std::size_t points_max);

/// Reduces series of any number of samples in bounded memory. Pure; one thread at a time.
class SeriesThinner {
 public:
  SeriesThinner(std::vector<const Metric*> metrics, std::size_t points_max);

  /// Samples must come in order of time for each replica.
  void Add(const Sample& sample);
  /// Returns the series by metric in the order given, then by task. Empties the thinner.
  [[nodiscard]] std::vector<Series> Take();

 private:
  using Key = std::pair<std::size_t, std::string>;  ///< position of the metric, task
  void ThinAll(std::size_t points_max);

  std::vector<const Metric*> metrics_;
  std::size_t points_max_;
  std::size_t held_max_;  ///< points of one series, before it is thinned
  std::size_t held_ = 0;
  std::map<Key, std::vector<Point>> points_;
  std::map<std::string, Sample> last_;  ///< by task
};

}  // namespace trainyard::metrics
