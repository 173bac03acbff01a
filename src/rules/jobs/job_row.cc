#include "rules/jobs/job_row.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/text/number.h"
#include "base/wire/utf8.h"
#include "rules/cluster/machine_type.h"
#include "rules/cluster/scale_tier.h"
#include "rules/jobs/trial.h"
#include "rules/measurement/hypertune_tags.h"

namespace trainyard::jobs {

namespace {

using text::Counted;

using control::v1::JobRecord;
using control::v1::JobRow;
using ml::v1::HyperparameterOutput;
using ml::v1::TrainingInput;

constexpr std::string_view kCut = "\xE2\x80\xA6";  // an ellipsis

/// The first line, cut.
std::string Short(std::string_view text, std::size_t bytes_max) {
  text = text.substr(0, text.find('\n'));
  if (text.size() <= bytes_max) return std::string(text);
  return std::string(text.substr(0, wire::Utf8Prefix(text, bytes_max - kCut.size()))).append(kCut);
}

/// What a failure's message says of its cause: the sentence of its diagnosis ("Diagnosis: NAME. SENTENCE" in
/// a line of its own), else what it begins with, which is the same for most failures.
std::string_view CauseOf(std::string_view message) {
  constexpr std::string_view kDiagnosis = "\nDiagnosis: ";
  const std::size_t line = message.find(kDiagnosis);
  if (line == std::string_view::npos) return message;
  const std::string_view diagnosis = message.substr(line + kDiagnosis.size());
  const std::size_t name = diagnosis.find(". ");
  return name < diagnosis.find('\n') ? diagnosis.substr(name + 2) : message;
}

/// The job's program: the algorithm, the module, or else the image.
std::string SummaryOf(const JobRecord& record) {
  const TrainingInput& input = record.job().training_input();
  if (!record.algorithm().empty()) return record.algorithm();
  return input.python_module().empty() ? input.master_config().image_uri() : input.python_module();
}

std::string_view NameOf(replica::v1::TaskType type) {
  switch (type) {
    case replica::v1::WORKER: return "worker";
    case replica::v1::PARAMETER_SERVER: return "parameter server";
    case replica::v1::EVALUATOR: return "evaluator";
    default: return "master";
  }
}

/// "STANDARD_1"; for CUSTOM "n1-standard-4, 2 workers, 3 NVIDIA_TESLA_T4" or "3 GPUs".
std::string MachinesOf(const TrainingInput& input) {
  if (input.scale_tier() != TrainingInput::CUSTOM) return TrainingInput::ScaleTier_Name(input.scale_tier());
  const auto groups = cluster::Groups(input);
  if (!groups) return input.master_type();
  std::string text = input.master_type();
  std::map<ml::v1::AcceleratorConfig::Type, std::int64_t> accelerators;
  for (const cluster::ReplicaGroup& group : *groups) {
    if (group.type != replica::v1::MASTER) text += ", " + Counted(group.count, NameOf(group.type));
    if (group.accelerators.count > 0)
      accelerators[group.accelerators.type] += group.count * group.accelerators.count;
  }
  for (const auto& [type, count] : accelerators)
    text += ", " + cluster::AcceleratorText(count, type, cluster::MeansAnyGpu(input));
  return text;
}

/// The record keeps the best one of the trials that have ended.
void AddTrials(const JobRecord& record, JobRow& row) {
  const control::v1::TuningRecord& tuning = record.tuning();
  row.set_tuning(true);
  row.set_trials(tuning.trials_succeeded() + tuning.trials_failed() + tuning.trials_cancelled());
  row.set_trials_max(MaxTrials(record));
  for (const HyperparameterOutput& trial : record.job().training_output().trials()) {
    if (trial.state() == HyperparameterOutput::QUEUED || !trial.has_final_metric()) continue;
    row.mutable_metric()->set_tag(MetricTag(record));
    row.mutable_metric()->set_value(trial.final_metric().objective_value());
    row.mutable_metric()->set_trial_id(trial.trial_id());
  }
}

/// The last value that the program reported, once it has ended.
void AddLastValue(const JobRecord& record, JobRow& row) {
  for (const control::v1::ReplicaRecord& replica : record.replicas()) {
    const replica::v1::MetricReport& report = replica.exit().metrics();
    const std::string_view tag = measurement::TagOf(report);
    if (tag.empty() || report.measurements().empty()) continue;
    row.mutable_metric()->set_tag(std::string(tag));
    row.mutable_metric()->set_value(report.measurements().rbegin()->value());
  }
}

}  // namespace

control::v1::SubmittedAs WithoutResource(const control::v1::SubmittedAs& submitted) {
  control::v1::SubmittedAs shown;  // not a copy of it all: the resource may be long
  shown.set_api(submitted.api());
  shown.set_collection(submitted.collection());
  shown.set_location(submitted.location());
  shown.set_number(submitted.number());
  return shown;
}

JobRow RowOf(const JobRecord& record, std::string_view waits_for) {
  const ml::v1::Job& job = record.job();
  JobRow row;
  row.set_job_id(job.job_id());
  row.set_state(job.state());
  if (job.has_create_time()) *row.mutable_create_time() = job.create_time();
  if (job.has_start_time()) *row.mutable_start_time() = job.start_time();
  if (job.has_end_time()) *row.mutable_end_time() = job.end_time();
  *row.mutable_labels() = job.labels();
  row.set_creator(record.creator());
  row.set_display_name(job.display_name());
  if (record.has_submitted_as()) *row.mutable_submitted_as() = WithoutResource(record.submitted_as());
  row.set_summary(Short(SummaryOf(record), kRowWordsBytesMax));
  row.set_machines(Short(MachinesOf(job.training_input()), kRowWordsBytesMax));
  row.set_reason(Short(job.has_end_time() ? CauseOf(job.error_message()) : waits_for, kReasonBytesMax));
  if (record.has_tuning())
    AddTrials(record, row);
  else
    AddLastValue(record, row);
  return row;
}

void JobCount::Add(const control::v1::JobRecord& job) {
  ++jobs_;
  ++by_state_[job.job().state()];
  if (job.has_tuning()) ++tuning_;
  if (!job.creator().empty() && creators_.size() < kCreatorsMax) creators_.insert(job.creator());
  for (const auto& [key, value] : job.job().labels()) {
    const std::pair label(key, value);
    const auto known = labels_.find(label);
    if (known != labels_.end())
      ++known->second;
    else if (labels_.size() < kLabelsCounted)
      labels_.emplace(label, 1);
  }
}

control::v1::JobSummary JobCount::Summary() const {
  control::v1::JobSummary summary;
  summary.set_jobs(jobs_);
  summary.set_tuning(tuning_);
  for (const auto& [state, jobs] : by_state_)
    (*summary.mutable_by_state())[ml::v1::Job::State_Name(state)] = jobs;
  for (const std::string& creator : creators_) summary.add_creators(creator);
  std::vector<std::pair<std::pair<std::string, std::string>, std::int64_t>> sorted(labels_.begin(),
                                                                                   labels_.end());
  std::ranges::sort(sorted, {}, [](const auto& label) { return std::tuple(-label.second, label.first); });
  if (sorted.size() > kLabelsMax) sorted.resize(kLabelsMax);
  for (const auto& [label, jobs] : sorted) {
    control::v1::JobSummary::Label& shown = *summary.add_labels();
    shown.set_key(label.first);
    shown.set_value(label.second);
    shown.set_jobs(jobs);
  }
  return summary;
}

}  // namespace trainyard::jobs
