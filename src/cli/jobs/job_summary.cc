#include "cli/jobs/job_summary.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "cli/gcloud/output_format.h"
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

constexpr std::size_t kInnerIndent = 4;

struct SummaryColumn {
  const char* path;
  const char* label;
  bool optional = false;  ///< left out when empty
};

std::string OneRow(const char* title, const Json& value, const std::vector<SummaryColumn>& columns,
                   std::size_t indent) {
  Rows rows(2);
  for (const SummaryColumn& column : columns) {
    std::string cell = FieldText(value, column.path);
    if (column.optional && cell.empty()) continue;
    rows[0].emplace_back(column.label);
    rows[1].push_back(std::move(cell));
  }
  return PrintBoxTable(title, rows, indent);
}

std::string PrintTrials(const Json& trials) {
  std::vector<Json> sorted = trials.children;
  std::ranges::sort(sorted, {}, [](const Json& trial) { return TextAt(trial, "trialId"); });
  Rows rows{{"TRIAL", "OBJECTIVE_VALUE", "STEP", "HYPERPARAMETERS"}};
  for (const Json& trial : sorted) {
    std::string parameters = FieldText(trial, "hyperparameters");
    std::ranges::replace(parameters, ';', '\n');
    rows.push_back({FieldText(trial, "trialId"), FieldText(trial, "finalMetric.objectiveValue"),
                    FieldText(trial, "finalMetric.trainingStep"), parameters});
  }
  return PrintBoxTable("Training Output Trials", rows, kInnerIndent);
}

bool HasMembers(const Json* value) { return value != nullptr && !value->children.empty(); }

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

std::string PrintWaiting(const Json& status) {
  const std::string reason = TextAt(status, "waiting.reason");
  if (reason.empty()) return "";
  const std::string position = TextAt(status, "waiting.jobPosition");
  const std::string unblock = TextAt(status, "waiting.unblock");
  std::string text = "Why it is waiting";
  if (!position.empty() && position != "0") text += " (position " + position + " in the queue)";
  text += ":\n  " + reason + "\n";
  if (!unblock.empty()) text += "  " + unblock + "\n";
  return text;
}

std::string PrintRemarks(const Json& status) {
  std::string text;
  for (const Json& replica : ListAt(status, "replicas")) {
    const std::string remark = TextAt(replica, "remark");
    if (!remark.empty()) text += "  " + TextAt(replica, "taskName") + ": " + remark + "\n";
  }
  return text.empty() ? text : "Remarks:\n" + text;
}

std::string SubmittedAsText(const Json& shown) {
  static const std::map<std::string, std::string, std::less<>> kKinds{
      {"customJobs", "Vertex AI custom job"},
      {"hyperparameterTuningJobs", "Vertex AI tuning job"},
      {"trainingPipelines", "Vertex AI training pipeline"}};
  const std::string collection = TextAt(shown, "submittedAs.collection");
  if (collection.empty()) return "";
  const auto kind = kKinds.find(collection);
  return (kind == kKinds.end() ? collection : kind->second) + ", " + TextAt(shown, "submittedAs.location");
}

std::string PrintImages(const Json& status) {
  const std::vector<Json>& images = ListAt(status, "images");
  if (images.empty()) return "";
  std::string text = "Images:\n";
  for (const Json& image : images) {
    const std::string reference = TextAt(image, "reference");
    text += "  " + TextAt(image, "image") +
            (reference.empty() ? " is not resolved yet" : " is " + reference) + "\n";
  }
  return text;
}

std::string PrintJobSummary(const Json& job) {
  static const std::vector<SummaryColumn> overview{
      {"jobId", "JOB_ID"},           {"displayName", "DISPLAY_NAME", true},
      {"createTime", "CREATE_TIME"}, {"startTime", "START_TIME"},
      {"endTime", "END_TIME"},       {"state", "STATE"}};
  static const std::vector<SummaryColumn> inputs{{"runtimeVersion", "RUNTIME_VERSION", true},
                                                 {"region", "REGION"},
                                                 {"scaleTier", "SCALE_TIER", true},
                                                 {"pythonModule", "PYTHON_MODULE"},
                                                 {"parameterServerType", "PARAMETER_SERVER_TYPE", true},
                                                 {"parameterServerCount", "PARAMETER_SERVER_COUNT", true},
                                                 {"masterType", "MASTER_TYPE", true},
                                                 {"workerType", "WORKER_TYPE", true},
                                                 {"workerCount", "WORKER_COUNT", true},
                                                 {"jobDir", "JOB_DIR", true}};
  static const std::vector<SummaryColumn> outputs{{"completedTrialCount", "TRIALS", true},
                                                  {"consumedMLUnits", "ML_UNITS"}};
  std::string out = OneRow("Job Overview", job, overview, 0);
  const Json* input = FindMember(job, "trainingInput");
  const Json* output = FindMember(job, "trainingOutput");
  bool is_tuning = input != nullptr && HasMembers(FindMember(*input, "hyperparameters"));
  if (HasMembers(input) && !is_tuning) out += OneRow("Training Input Summary", *input, inputs, kInnerIndent);
  if (HasMembers(output)) out += OneRow("Training Output Summary", *output, outputs, kInnerIndent);
  const Json* trials = output == nullptr ? nullptr : FindMember(*output, "trials");
  if (is_tuning && HasMembers(trials)) out += PrintTrials(*trials);
  return out;
}

}  // namespace trainyard::cli
