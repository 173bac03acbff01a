#include "stores/metrics/series.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <map>
#include <span>

#include "base/extremes.h"
#include "base/wire/time.h"

namespace trainyard::metrics {
namespace {

using replica::v1::Usage;
using Figure = std::optional<double>;

constexpr std::string_view kFraction = "10^2.%";
constexpr std::string_view kBytes = "By";

constexpr std::array kMetrics{
    Metric{"ml.googleapis.com/training/accelerator/memory/utilization", Metric::Kind::kGauge, kFraction},
    Metric{"ml.googleapis.com/training/accelerator/utilization", Metric::Kind::kGauge, kFraction},
    Metric{"ml.googleapis.com/training/cpu/utilization", Metric::Kind::kGauge, kFraction},
    Metric{"ml.googleapis.com/training/disk/read_bytes_count", Metric::Kind::kDelta, kBytes},
    Metric{"ml.googleapis.com/training/disk/written_bytes_count", Metric::Kind::kDelta, kBytes},
    Metric{"ml.googleapis.com/training/memory/utilization", Metric::Kind::kGauge, kFraction},
    Metric{"ml.googleapis.com/training/network/received_bytes_count", Metric::Kind::kDelta, kBytes},
    Metric{"ml.googleapis.com/training/network/sent_bytes_count", Metric::Kind::kDelta, kBytes},
};

double Grown(std::int64_t before, std::int64_t now) {
  return static_cast<double>(std::max<std::int64_t>(0, now - before));
}

bool HasNetwork(const Usage& usage) { return usage.received_bytes() > 0 || usage.sent_bytes() > 0; }

bool HasDisk(const Usage& usage) { return usage.disk_read_bytes() > 0 || usage.disk_written_bytes() > 0; }

/// `before` is the same attempt's sample before; null for its first.
using Read = Figure (*)(const Usage* before, const Usage& now);

constexpr std::array<Read, kMetrics.size()> kReads{
    [](const Usage*, const Usage& now) { return AcceleratorMemoryUtilization(now); },
    [](const Usage*, const Usage& now) { return AcceleratorUtilization(now); },
    [](const Usage* before, const Usage& now) -> Figure { return CpuUtilization(before, now); },
    [](const Usage* before, const Usage& now) -> Figure {
      if (!HasDisk(now)) return std::nullopt;
      return Grown(before != nullptr ? before->disk_read_bytes() : 0, now.disk_read_bytes());
    },
    [](const Usage* before, const Usage& now) -> Figure {
      if (!HasDisk(now)) return std::nullopt;
      return Grown(before != nullptr ? before->disk_written_bytes() : 0, now.disk_written_bytes());
    },
    [](const Usage*, const Usage& now) { return MemoryUtilization(now); },
    [](const Usage* before, const Usage& now) -> Figure {
      if (!HasNetwork(now)) return std::nullopt;
      return Grown(before != nullptr ? before->received_bytes() : 0, now.received_bytes());
    },
    [](const Usage* before, const Usage& now) -> Figure {
      if (!HasNetwork(now)) return std::nullopt;
      return Grown(before != nullptr ? before->sent_bytes() : 0, now.sent_bytes());
    },
};

namespace json = boost::json;

json::object PointObject(const Series& series, const Point& point) {
  json::object value;
  if (series.metric->kind == Metric::Kind::kDelta) {
    value["int64Value"] = std::to_string(static_cast<std::int64_t>(point.value));
  } else {
    value["doubleValue"] = point.value;
  }
  return {{"interval", json::object{{"startTime", wire::PrintTime(point.start)},
                                    {"endTime", wire::PrintTime(point.end)}}},
          {"value", std::move(value)}};
}

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

std::span<const Metric> Metrics() { return kMetrics; }

const Metric* FindMetric(std::string_view type) {
  const auto found = std::ranges::find(kMetrics, type, &Metric::type);
  return found == kMetrics.end() ? nullptr : &*found;
}

double CpuUtilization(const Usage* before, const Usage& now) {
  const std::chrono::duration<double> passed =
      before != nullptr
          ? std::chrono::duration<double>(wire::FromProto(now.time()) - wire::FromProto(before->time()))
          : std::chrono::duration<double>(kFirstSampleAfter);
  const double used = now.cpu_seconds() - (before != nullptr ? before->cpu_seconds() : 0);
  if (passed.count() <= 0 || now.cpus() <= 0) return 0;
  return std::clamp(used / passed.count() / now.cpus(), 0.0, 1.0);
}

Figure MemoryUtilization(const Usage& usage) {
  if (usage.memory_total_bytes() <= 0) return std::nullopt;
  return std::clamp(
      static_cast<double>(usage.memory_bytes()) / static_cast<double>(usage.memory_total_bytes()), 0.0, 1.0);
}

Figure AcceleratorUtilization(const Usage& usage) {
  if (usage.gpus().empty()) return std::nullopt;
  double sum = 0;
  for (const Usage::Gpu& gpu : usage.gpus()) sum += gpu.utilization();
  return std::clamp(sum / usage.gpus_size(), 0.0, 1.0);
}

Figure AcceleratorMemoryUtilization(const Usage& usage) {
  double used = 0;
  double total = 0;
  for (const Usage::Gpu& gpu : usage.gpus()) {
    used += static_cast<double>(gpu.memory_bytes());
    total += static_cast<double>(gpu.memory_total_bytes());
  }
  if (total <= 0) return std::nullopt;
  return std::clamp(used / total, 0.0, 1.0);
}

std::optional<Point> PointOf(const Metric& metric, const Sample* before, const Sample& now) {
  const auto index = static_cast<std::size_t>(&metric - kMetrics.data());
  if (before != nullptr && before->attempt != now.attempt) before = nullptr;
  const Figure figure = kReads.at(index)(before != nullptr ? &before->usage : nullptr, now.usage);
  if (!figure) return std::nullopt;
  const SysTime time = wire::FromProto(now.usage.time());
  const SysTime since = before != nullptr ? wire::FromProto(before->usage.time()) : time - kFirstSampleAfter;
  const bool counts = metric.kind == Metric::Kind::kDelta;
  return Point{.start = counts ? since : time, .end = time, .value = *figure};
}

std::vector<Series> SeriesOf(const Metric& metric, std::span<const Sample> samples) {
  std::map<std::string_view, Series> by_task;
  std::map<std::string_view, const Sample*> last;
  for (const Sample& sample : samples) {
    const Sample* before = std::exchange(last[sample.task_name], &sample);
    if (const std::optional<Point> point = PointOf(metric, before, sample))
      by_task[sample.task_name].points.push_back(*point);
  }
  std::vector<Series> all;
  for (auto& [task, series] : by_task) {
    series.metric = &metric;
    series.task_name = task;
    all.push_back(std::move(series));
  }
  return all;
}

std::string PrintSeries(const std::string& project, const std::string& job_id, std::span<const Series> series,
                        std::string_view incomplete) {
  json::array list;
  for (const Series& one : series) {
    const bool counts = one.metric->kind == Metric::Kind::kDelta;
    json::array points;
    for (auto point = one.points.rbegin(); point != one.points.rend(); ++point)
      points.push_back(PointObject(one, *point));
    json::object labels{{"project_id", project}, {"job_id", job_id}, {"task_name", one.task_name}};
    list.push_back(
        json::object{{"metric", json::object{{"type", one.metric->type}}},
                     {"resource", json::object{{"type", "cloudml_job"}, {"labels", std::move(labels)}}},
                     {"metricKind", counts ? "DELTA" : "GAUGE"},
                     {"valueType", counts ? "INT64" : "DOUBLE"},
                     {"unit", one.metric->unit},
                     {"points", std::move(points)}});
  }
  json::object answer;
  if (!list.empty()) answer["timeSeries"] = std::move(list);
  if (!incomplete.empty()) {
    json::object error{{"code", static_cast<int>(Code::kDeadlineExceeded)}, {"message", incomplete}};
    answer["executionErrors"] = json::array{std::move(error)};
  }
  return json::serialize(answer) + "\n";
}

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
