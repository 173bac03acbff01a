#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Computes Google's metrics from samples. Pure: any thread. Source: spec lifecycle.md section 11.
namespace trainyard::metrics {

/// What one attempt of one replica has used up to a moment.
struct Sample {
  std::int64_t job_uid = 0;
  std::string task_name;  ///< "worker-replica-0"
  int attempt = 0;
  replica::v1::Usage usage;
};

struct Metric {
  enum class Kind {
    kGauge,  ///< a fraction from 0 to 1
    kDelta,  ///< bytes since the point before
  };
  std::string_view type;  ///< "ml.googleapis.com/training/cpu/utilization"
  Kind kind = Kind::kGauge;
  std::string_view unit;  ///< as Cloud Monitoring writes it: "10^2.%" is shown as percent, "By" are bytes
};

[[nodiscard]] std::span<const Metric> Metrics();
/// Null for an unknown name.
[[nodiscard]] const Metric* FindMetric(std::string_view type);

struct Point {
  SysTime start;  ///< when counting began; for a gauge the same as `end`
  SysTime end;
  double value = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Series {
  const Metric* metric = nullptr;
  std::string task_name;
  std::vector<Point> points;  ///< oldest first
};

/// The metric's value in a sample; nothing: the sample does not have it. `before`: the same replica's
/// previous sample; null: there is none.
[[nodiscard]] std::optional<Point> PointOf(const Metric& metric, const Sample* before, const Sample& now);

/// One series for each replica whose samples have this metric. Accelerator metrics exist only for replicas
/// with accelerators, network metrics only for those with a network namespace, disk metrics once the replica
/// used a disk. @param samples of one job, in order of time for each replica.
[[nodiscard]] std::vector<Series> SeriesOf(const Metric& metric, std::span<const Sample> samples);

/// The part of its processors that an attempt used between two of its samples, 0 to 1. Without a previous
/// sample: since its start, which is assumed to be kFirstSampleAfter earlier.
inline constexpr std::chrono::seconds kFirstSampleAfter{1};
[[nodiscard]] double CpuUtilization(const replica::v1::Usage* before, const replica::v1::Usage& now);

/// Values of a single sample; absent if it has none.
[[nodiscard]] std::optional<double> MemoryUtilization(const replica::v1::Usage& usage);
[[nodiscard]] std::optional<double> AcceleratorUtilization(const replica::v1::Usage& usage);
[[nodiscard]] std::optional<double> AcceleratorMemoryUtilization(const replica::v1::Usage& usage);

/// The response of Cloud Monitoring's projects.timeSeries.list: points newest first, resource `cloudml_job`.
/// Pure: any thread. Source: the Monitoring API v3, ListTimeSeriesResponse; the labels are Google's and
/// task_name. `incomplete`: why points are missing, put into executionErrors; empty: none are.
[[nodiscard]] std::string PrintSeries(const std::string& project, const std::string& job_id,
                                      std::span<const Series> series, std::string_view incomplete = {});

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
