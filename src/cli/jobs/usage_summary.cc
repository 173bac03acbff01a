#include "cli/jobs/job_summary.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "cli/gcloud/table.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kIndent = 4;
constexpr std::string_view kPrefix = "ml.googleapis.com/training/";

/// The values of one series, the newest first.
using Values = std::vector<double>;
/// By metric, without the prefix.
using Replica = std::map<std::string, Values, std::less<>>;

Values ValuesOf(const Json& series) {
  Values values;
  for (const Json& point : ListAt(series, "points")) {
    std::string text = TextAt(point, "value.doubleValue");
    if (text.empty()) text = TextAt(point, "value.int64Value");
    values.push_back(std::strtod(text.c_str(), nullptr));
  }
  return values;
}

std::string Percent(double fraction) {
  std::array<char, 16> text{};
  constexpr double kHundred = 100;
  const int size = std::snprintf(text.data(), text.size(), "%.0f%%", fraction * kHundred);
  return {text.data(), static_cast<std::size_t>(std::max(size, 0))};
}

std::string Bytes(double bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024;
  std::size_t unit = 0;
  for (; bytes >= kStep && unit + 1 < kUnits.size(); ++unit) bytes /= kStep;
  std::array<char, 32> text{};
  const int size =
      std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits.at(unit));
  return {text.data(), static_cast<std::size_t>(std::max(size, 0))};
}

double Mean(const Values& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}
double Sum(const Values& values) { return Mean(values) * static_cast<double>(values.size()); }
double Most(const Values& values) { return *std::ranges::max_element(values); }
double Last(const Values& values) { return values.front(); }

struct UsageColumn {
  const char* label;
  std::string_view metric;
  double (*value)(const Values&);
  std::string (*print)(double);
};

constexpr std::array kColumns{
    UsageColumn{"CPU_MEAN", "cpu/utilization", Mean, Percent},
    UsageColumn{"CPU_LAST", "cpu/utilization", Last, Percent},
    UsageColumn{"MEMORY_PEAK", "memory/utilization", Most, Percent},
    UsageColumn{"MEMORY_LAST", "memory/utilization", Last, Percent},
    UsageColumn{"ACCELERATOR_MEAN", "accelerator/utilization", Mean, Percent},
    UsageColumn{"ACCELERATOR_MEMORY_PEAK", "accelerator/memory/utilization", Most, Percent},
    UsageColumn{"RECEIVED", "network/received_bytes_count", Sum, Bytes},
    UsageColumn{"SENT", "network/sent_bytes_count", Sum, Bytes},
};

std::map<std::string, Replica> ReplicasOf(const Json& answer) {
  std::map<std::string, Replica> replicas;
  for (const Json& series : ListAt(answer, "timeSeries")) {
    std::string type = TextAt(series, "metric.type");
    Values values = ValuesOf(series);
    if (!type.starts_with(kPrefix) || values.empty()) continue;
    replicas[TextAt(series, "resource.labels.task_name")][type.substr(kPrefix.size())] = std::move(values);
  }
  return replicas;
}

}  // namespace

std::string PrintUsageSummary(const Json& answer) {
  const std::map<std::string, Replica> replicas = ReplicasOf(answer);
  if (replicas.empty()) return {};
  std::vector<UsageColumn> columns;
  for (const UsageColumn& column : kColumns) {
    const auto has = [&column](const auto& replica) { return replica.second.contains(column.metric); };
    if (std::ranges::any_of(replicas, has)) columns.push_back(column);
  }
  Rows rows{{"REPLICA"}};
  for (const UsageColumn& column : columns) rows.front().emplace_back(column.label);
  for (const auto& [task, figures] : replicas) {
    std::vector<std::string> row{task};
    for (const UsageColumn& column : columns) {
      const auto values = figures.find(column.metric);
      row.push_back(values == figures.end() ? "" : column.print(column.value(values->second)));
    }
    rows.push_back(std::move(row));
  }
  return PrintBoxTable("Resource Usage", rows, kIndent);
}

}  // namespace trainyard::cli
