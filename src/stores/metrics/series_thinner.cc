#include "stores/metrics/series_thinner.h"

#include <algorithm>
#include <span>

#include "base/extremes.h"

namespace trainyard::metrics {
namespace {

/// Before it is thinned, a series may have this many times the wanted number of points: thinning often in
/// small steps gives the same result as thinning once.
constexpr std::size_t kHeldFactor = 4;

std::vector<Point> Extremes(std::span<const Point> points, std::size_t points_max) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const Point& point : points) values.push_back(point.value);
  std::vector<Point> kept;
  for (const std::size_t i : ExtremesOf(values, points_max)) kept.push_back(points[i]);
  return kept;
}

/// Extremes would not be right for bytes: the points must add up to the total.
std::vector<Point> Sums(std::span<const Point> points, std::size_t points_max) {
  std::vector<Point> sums;
  for (std::size_t k = 0; k < points_max; ++k) {
    const Slice slice = SliceOf(points.size(), k, points_max);
    const std::span<const Point> part = points.subspan(slice.begin, slice.end - slice.begin);
    Point sum{.start = part.front().start, .end = part.back().end};
    for (const Point& point : part) sum.value += point.value;
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace

std::vector<Point> Thin(Metric::Kind kind, std::vector<Point> points, std::size_t points_max) {
  points_max = std::max(points_max, kExtremesMin);
  if (points.size() <= points_max) return points;
  switch (kind) {
    case Metric::Kind::kGauge: return Extremes(points, points_max);
    case Metric::Kind::kDelta: return Sums(points, points_max);
  }
  return points;
}

SeriesThinner::SeriesThinner(std::vector<const Metric*> metrics, std::size_t points_max)
    : metrics_(std::move(metrics)), points_max_(points_max), held_max_(points_max * kHeldFactor) {}

void SeriesThinner::Add(const Sample& sample) {
  const auto last = last_.find(sample.task_name);
  const Sample* before = last == last_.end() ? nullptr : &last->second;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const std::optional<Point> point = PointOf(*metrics_[i], before, sample);
    if (!point) continue;
    std::vector<Point>& points = points_[{i, sample.task_name}];
    points.push_back(*point);
    ++held_;
    if (points.size() < held_max_) continue;
    held_ -= points.size();
    points = Thin(metrics_[i]->kind, std::move(points), held_max_ / 2);
    held_ += points.size();
  }
  last_.insert_or_assign(sample.task_name, sample);
  if (held_ <= kThinnedHeldMax) return;
  held_max_ = std::max(held_max_ / 2, kExtremesMin * kHeldFactor);
  ThinAll(held_max_ / 2);
}

void SeriesThinner::ThinAll(std::size_t points_max) {
  held_ = 0;
  for (auto& [key, points] : points_) {
    points = Thin(metrics_[key.first]->kind, std::move(points), points_max);
    held_ += points.size();
  }
}

std::vector<Series> SeriesThinner::Take() {
  const std::size_t together = kThinnedTogetherMax / std::max<std::size_t>(1, points_.size());
  ThinAll(std::min(points_max_, together));
  std::vector<Series> all;
  for (auto& [key, points] : points_)
    all.push_back({.metric = metrics_[key.first], .task_name = key.second, .points = std::move(points)});
  points_.clear();
  last_.clear();
  held_ = 0;
  return all;
}

}  // namespace trainyard::metrics
