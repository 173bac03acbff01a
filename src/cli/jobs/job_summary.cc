#include "cli/jobs/job_summary.h"

#include <algorithm>
#include <vector>

#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"

namespace trainyard::cli {
namespace {

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

std::string PrintWaiting(const Json& status) {
  const std::string reason = TextAt(status, "waiting.reason");
  if (reason.empty()) return "";
  const std::string position = TextAt(status, "waiting.jobPosition");
  const std::string unblock = TextAt(status, "waiting.unblock");
  std::string text = "Why it does not run yet";
  if (!position.empty() && position != "0") text += " (position " + position + " in the queue)";
  text += ":\n  " + reason + "\n";
  if (!unblock.empty()) text += "  " + unblock + "\n";
  return text;
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
  static const std::vector<SummaryColumn> overview{{"jobId", "JOB_ID"},
                                                   {"createTime", "CREATE_TIME"},
                                                   {"startTime", "START_TIME"},
                                                   {"endTime", "END_TIME"},
                                                   {"state", "STATE"}};
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
