#include "metrics/series_json.h"

#include <boost/json.hpp>

#include "wire/time.h"

namespace trainyard::metrics {
namespace {

namespace json = boost::json;

std::string Time(SysTime time) { return wire::PrintTime(time); }

json::object PointObject(const Series& series, const Point& point) {
  json::object value;
  if (series.metric->kind == Metric::Kind::kDelta) {
    value["int64Value"] = std::to_string(static_cast<std::int64_t>(point.value));
  } else {
    value["doubleValue"] = point.value;
  }
  return {{"interval", json::object{{"startTime", Time(point.start)}, {"endTime", Time(point.end)}}},
          {"value", std::move(value)}};
}

}  // namespace

std::string PrintSeries(const std::string& project, const std::string& job_id,
                        std::span<const Series> series) {
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
  return json::serialize(answer) + "\n";
}

}  // namespace trainyard::metrics
