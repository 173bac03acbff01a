#include "cli/jobs/trial_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

namespace trainyard::cli {
namespace {

constexpr std::size_t kSparklineWidth = 20;
constexpr std::size_t kReasonMax = 100;

std::vector<const Json*> TrialsOf(const Json& status) {
  std::vector<const Json*> trials;
  for (const Json& trial : ListAt(status, "trials")) trials.push_back(&trial);
  return trials;
}

constexpr const char* kParameters = "output.hyperparameters";
/// Trainyard's own field: the values of a trial's further metrics.
constexpr const char* kFurther = "output.finalMetric.furtherValues";

/// The names that any of the trials has there: a trial has no value for a parameter whose condition does not
/// hold, and none of a metric before it has reported all.
std::vector<std::string> NamesAt(const char* path, const std::vector<const Json*>& trials) {
  std::set<std::string> names;
  for (const Json* const trial : trials)
    for (const Json& one : ListAt(*trial, path)) names.insert(one.name);
  return {names.begin(), names.end()};
}

/// Names may contain dots, so this is not a path.
std::string NamedAt(const char* path, const Json& trial, const std::string& name) {
  for (const Json& one : ListAt(trial, path)) {
    if (one.name == name) return one.text;
  }
  return "";
}

std::string CurveOf(const Json& trial) {
  std::vector<double> values;
  for (const Json& measurement : ListAt(trial, "report.measurements")) {
    const std::string text = TextAt(measurement, "value");
    values.push_back(text.empty() ? 0.0 : std::strtod(text.c_str(), nullptr));  // the server omits zero
  }
  return Sparkline(values, kSparklineWidth);
}

std::string StateOf(const Json& trial) {
  const std::string state = TextAt(trial, "output.state");
  return TextAt(trial, "output.isTrialStoppedEarly") == "true" ? state + " (early)" : state;
}

/// Empty without a metric. The server omits zeros.
std::string MetricOf(const Json& trial, const char* field) {
  if (FindMember(trial, "output.finalMetric") == nullptr) return "";
  std::string text = TextAt(trial, std::string("output.finalMetric.") + field);
  return text.empty() ? "0" : text;
}

std::string FirstLine(std::string text) {
  text = text.substr(0, text.find('\n'));
  if (text.size() > kReasonMax) {
    std::size_t end = kReasonMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
      --end;  // do not cut a character
    text = text.substr(0, end) + "...";
  }
  return text;
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void AddCsvRow(const std::vector<std::string>& cells, std::string& out) {
  for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + CsvCell(cells[i]);
  out += "\n";
}

}  // namespace

bool HasTrials(const Json& status) { return !TrialsOf(status).empty(); }

std::string Sparkline(const std::vector<double>& values, std::size_t width) {
  constexpr std::array kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.size() < 2) return "";
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  std::string line;
  const std::size_t count = std::min(width, values.size());
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[count == 1 ? 0 : i * (values.size() - 1) / (count - 1)];
    if (!std::isfinite(value)) {
      line += '?';
      continue;
    }
    const double share = high > low ? (value - low) / (high - low) : 0.5;
    line += kBlocks.at(std::min(kBlocks.size() - 1, static_cast<std::size_t>(share * kBlocks.size())));
  }
  return line;
}

std::string BestTrial(const Json& job) {
  const std::vector<Json>& trials = ListAt(job, "trainingOutput.trials");
  if (trials.empty()) return "";
  const Json& first = trials.front();
  return FindMember(first, "finalMetric") == nullptr ? "" : TextAt(first, "trialId");
}

Rows TrialRows(const Json& status, const std::string& best) {
  std::vector<const Json*> trials = TrialsOf(status);
  const std::vector<std::string> names = NamesAt(kParameters, trials);
  const std::vector<std::string> metrics = NamesAt(kFurther, trials);
  const auto is_best = [&best](const Json* trial) {
    return !best.empty() && TextAt(*trial, "output.trialId") == best;
  };
  if (const auto found = std::ranges::find_if(trials, is_best); found != trials.end())
    std::rotate(trials.begin(), found, found + 1);
  Rows rows{{"TRIAL", "STATE", "METRIC", "STEP"}};
  rows[0].insert(rows[0].end(), metrics.begin(), metrics.end());
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  for (const char* heading : {"COURSE", "REASON"}) rows[0].emplace_back(heading);
  for (const Json* trial : trials) {
    std::vector<std::string> row{TextAt(*trial, "output.trialId") + (is_best(trial) ? " (best)" : ""),
                                 StateOf(*trial), RoundedNumber(MetricOf(*trial, "objectiveValue")),
                                 MetricOf(*trial, "trainingStep")};
    for (const std::string& tag : metrics) row.push_back(RoundedNumber(NamedAt(kFurther, *trial, tag)));
    for (const std::string& name : names) row.push_back(RoundedNumber(NamedAt(kParameters, *trial, name)));
    row.push_back(CurveOf(*trial));
    row.push_back(FirstLine(TextAt(*trial, "reason")));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string PrintTrialCsv(const Json& status) {
  const std::vector<const Json*> trials = TrialsOf(status);
  const std::vector<std::string> names = NamesAt(kParameters, trials);
  const std::vector<std::string> metrics = NamesAt(kFurther, trials);
  std::vector<std::string> heading{"trial_id", "state"};
  heading.insert(heading.end(), names.begin(), names.end());
  heading.emplace_back("objective_value");
  heading.insert(heading.end(), metrics.begin(), metrics.end());
  for (const char* name : {"training_step", "stopped_early", "start_time", "end_time", "reason"})
    heading.emplace_back(name);
  std::string out;
  AddCsvRow(heading, out);
  for (const Json* trial : trials) {
    std::vector<std::string> row{TextAt(*trial, "output.trialId"), TextAt(*trial, "output.state")};
    for (const std::string& name : names) row.push_back(NamedAt(kParameters, *trial, name));
    row.push_back(MetricOf(*trial, "objectiveValue"));
    for (const std::string& tag : metrics) row.push_back(NamedAt(kFurther, *trial, tag));
    row.push_back(MetricOf(*trial, "trainingStep"));
    row.emplace_back(TextAt(*trial, "output.isTrialStoppedEarly") == "true" ? "true" : "false");
    row.push_back(TextAt(*trial, "output.startTime"));
    row.push_back(TextAt(*trial, "output.endTime"));
    row.push_back(TextAt(*trial, "reason"));
    AddCsvRow(row, out);
  }
  return out;
}

std::vector<Json> TrialOutputs(const Json& status) {
  std::vector<Json> outputs;
  for (const Json* trial : TrialsOf(status)) {
    if (const Json* output = FindMember(*trial, "output")) outputs.push_back(*output);
  }
  return outputs;
}

}  // namespace trainyard::cli
