#include "rules/jobs/trial.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/number.h"
#include "base/wire/time.h"
#include "rules/jobs/prepare.h"
#include "rules/measurement/report.h"

namespace trainyard::jobs {
namespace {

using control::v1::JobRecord;
using ml::v1::HyperparameterOutput;
using ml::v1::HyperparameterSpec;
using ml::v1::Job;
using FinalValues = ml::v1::HyperparameterOutput_HyperparameterMetric;

const HyperparameterSpec& SpecOf(const JobRecord& job) {
  return job.job().training_input().hyperparameters();
}

/// The roles that run containers: those whose image was looked up when the job was created.
RoleImages ContainersOf(const JobRecord& tuning) {
  RoleImages containers = NamedImages(tuning.job().training_input());
  std::erase_if(containers, [&tuning](const auto& role) {
    return std::ranges::none_of(tuning.images(), [&role](const control::v1::ImageRecord& known) {
      return known.image() == role.second;
    });
  });
  return containers;
}

}  // namespace

int MaxTrials(const JobRecord& tuning) { return std::max(1, SpecOf(tuning).max_trials()); }

int MaxParallelTrials(const JobRecord& tuning) {
  return std::clamp(SpecOf(tuning).max_parallel_trials(), 1, MaxTrials(tuning));
}

bool Maximizes(const JobRecord& tuning) { return SpecOf(tuning).goal() != HyperparameterSpec::MINIMIZE; }

std::string MetricTag(const JobRecord& job) {
  const std::string& tag = SpecOf(job).hyperparameter_metric_tag();
  return tag.empty() ? kMetricTagDefault : tag;
}

std::vector<std::string> MetricTags(const JobRecord& job) {
  std::vector<std::string> tags = {MetricTag(job)};
  for (const HyperparameterSpec::FurtherMetric& metric : SpecOf(job).further_metrics())
    tags.push_back(metric.hyperparameter_metric_tag());
  return tags;
}

bool StopsEarly(const JobRecord& tuning) {
  return SpecOf(tuning).enable_trial_early_stopping() && SpecOf(tuning).further_metrics().empty();
}

void MakeTuning(JobRecord& record) {
  record.clear_replicas();
  // Different for every job, and the same for every call.
  std::uint64_t seed = 0;
  const std::string hash = ClusterHash(record.project(), record.job().job_id());
  std::from_chars(hash.data(), hash.data() + hash.size(), seed, 16);
  const google::protobuf::Timestamp& time = record.job().create_time();
  record.mutable_tuning()->set_seed(
      seed ^ static_cast<std::uint64_t>(time.seconds() * std::nano::den + time.nanos()));
}

JobRecord MakeTrial(const JobRecord& tuning, const control::v1::Event::TrialCreated& created,
                    SysTime create_time) {
  JobRecord record =
      MakeRecord(tuning.project(), tuning.job(), tuning.runtime_version(), create_time, ContainersOf(tuning));
  record.clear_notes();  // they are in the tuning job's log
  record.set_creator(tuning.creator());
  record.set_creator_account_id(tuning.creator_account_id());
  record.set_service_account_id(tuning.service_account_id());
  record.mutable_job()->clear_training_output();
  if (!tuning.algorithm().empty())
    SetAlgorithm(tuning.algorithm(), tuning.model_folder(),
                 tuning.job().training_output().built_in_algorithm_output(), record);
  *record.mutable_packages() = tuning.packages();
  *record.mutable_role_packages() = tuning.role_packages();
  *record.mutable_images() = tuning.images();
  record.set_cluster_hash(ClusterHash(tuning.project(), tuning.job().job_id() + "/" + created.trial_id()));
  control::v1::TrialRecord& trial = *record.mutable_trial();
  trial.set_tuning_uid(tuning.uid());
  trial.set_trial_id(created.trial_id());
  *trial.mutable_hyperparameters() = created.hyperparameters();
  *trial.mutable_point() = created.point();
  return record;
}

std::string TrialJobDir(const JobRecord& trial) {
  std::string dir = trial.job().training_input().job_dir();
  if (dir.empty()) return dir;
  if (!dir.ends_with('/')) dir += '/';
  return dir + trial.trial().trial_id();
}

std::string JobDirOf(const JobRecord& job) {
  return job.has_trial() ? TrialJobDir(job) : job.job().training_input().job_dir();
}

std::vector<std::string> TrialFlags(const JobRecord& trial) {
  std::vector<std::string> flags;
  for (const ml::v1::ParameterSpec& param : SpecOf(trial).params()) {
    const auto value = trial.trial().hyperparameters().find(param.parameter_name());
    if (value != trial.trial().hyperparameters().end())
      flags.push_back("--" + param.parameter_name() + "=" + value->second);
  }
  return flags;
}

std::string ParametersText(const JobRecord& job,
                           const google::protobuf::Map<std::string, std::string>& hyperparameters) {
  std::string text;
  for (const ml::v1::ParameterSpec& param : SpecOf(job).params()) {
    const auto value = hyperparameters.find(param.parameter_name());
    if (value == hyperparameters.end()) continue;
    if (!text.empty()) text += ", ";
    text += param.parameter_name() + "=" + value->second;
  }
  return text;
}

std::optional<FinalValues> FinalMetric(const JobRecord& trial, const replica::v1::MetricReport& report) {
  const auto last = measurement::FinalMeasurement(report);
  if (!last) return std::nullopt;
  FinalValues metric;
  metric.set_training_step(last->step());
  metric.set_objective_value(last->value());
  for (const HyperparameterSpec::FurtherMetric& further : SpecOf(trial).further_metrics()) {
    const std::string& tag = further.hyperparameter_metric_tag();
    const auto value = measurement::FinalMeasurementOf(tag, report);
    if (!value) return std::nullopt;
    (*metric.mutable_further_values())[tag] = value->value();
  }
  return metric;
}

std::vector<double> MetricValues(const JobRecord& job, const FinalValues& metric) {
  std::vector<double> values = {metric.objective_value()};
  for (const HyperparameterSpec::FurtherMetric& further : SpecOf(job).further_metrics()) {
    const auto found = metric.further_values().find(further.hyperparameter_metric_tag());
    values.push_back(found != metric.further_values().end() ? found->second
                                                            : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

std::string MetricsText(const JobRecord& job, const FinalValues& metric) {
  const std::vector<std::string> tags = MetricTags(job);
  const std::vector<double> values = MetricValues(job, metric);
  std::string text;
  for (std::size_t i = 0; i < tags.size(); ++i)
    text += (i == 0 ? "" : ", ") + tags[i] + " " + MetricText(values[i]);
  return text;
}

HyperparameterOutput TrialOutput(const JobRecord& trial, const replica::v1::MetricReport& report) {
  HyperparameterOutput output;
  output.set_trial_id(trial.trial().trial_id());
  *output.mutable_hyperparameters() = trial.trial().hyperparameters();
  const Job& job = trial.job();
  output.set_state(TrialState(job.state()));
  if (job.has_start_time()) *output.mutable_start_time() = job.start_time();
  if (job.has_end_time()) *output.mutable_end_time() = job.end_time();
  output.set_is_trial_stopped_early(trial.trial().stopped_early());
  if (job.training_output().has_built_in_algorithm_output())
    *output.mutable_built_in_algorithm_output() = job.training_output().built_in_algorithm_output();
  if (job.state() == Job::FAILED) return output;
  if (auto metric = FinalMetric(trial, report)) *output.mutable_final_metric() = *std::move(metric);
  return output;
}

std::string TrialReason(const JobRecord& trial) {
  if (!trial.job().error_message().empty()) return trial.job().error_message();
  return trial.trial().no_metric();
}

void SortTrials(bool maximize, std::vector<HyperparameterOutput>& trials) {
  std::ranges::sort(trials, [maximize](const HyperparameterOutput& a, const HyperparameterOutput& b) {
    if (a.has_final_metric() != b.has_final_metric()) return a.has_final_metric();
    if (a.has_final_metric()) {
      const double x = a.final_metric().objective_value();
      const double y = b.final_metric().objective_value();
      if (x != y) return maximize ? x > y : x < y;
    }
    return TrialNumber(a.trial_id()) < TrialNumber(b.trial_id());
  });
}

HyperparameterOutput::State TrialState(Job::State state) {
  switch (state) {
    case Job::QUEUED: return HyperparameterOutput::QUEUED;
    case Job::PREPARING: return HyperparameterOutput::PREPARING;
    case Job::RUNNING: return HyperparameterOutput::RUNNING;
    case Job::SUCCEEDED: return HyperparameterOutput::SUCCEEDED;
    case Job::FAILED: return HyperparameterOutput::FAILED;
    case Job::CANCELLING: return HyperparameterOutput::CANCELLING;
    case Job::CANCELLED: return HyperparameterOutput::CANCELLED;
    default: return HyperparameterOutput::STATE_UNSPECIFIED;
  }
}

int TrialNumber(const std::string& trial_id) { return WholeNumber<int>(trial_id).value_or(0); }

std::string MetricText(double value) {
  constexpr std::size_t kDoubleMax = 32;
  std::string text(kDoubleMax, '\0');
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

}  // namespace trainyard::jobs
