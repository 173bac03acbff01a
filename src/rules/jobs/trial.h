#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"

/// A trial of a tuning job: a separate job in the store and in the control loop, but a part of the tuning job
/// for users. Pure: any thread. Source: spec hyperparameter-tuning.md; docs/adr/0019-trials-are-jobs.md.
namespace trainyard::jobs {

inline constexpr const char* kMetricTagDefault = "training/hptuning/metric";
/// How many metrics a tuning job may have: each has a curve in the reports and the record of every trial.
inline constexpr int kMetricsMax = 5;

/// For a job that passed Validate; absent fields get their defaults.
[[nodiscard]] int MaxTrials(const control::v1::JobRecord& tuning);
[[nodiscard]] int MaxParallelTrials(const control::v1::JobRecord& tuning);  ///< at most MaxTrials
[[nodiscard]] bool Maximizes(const control::v1::JobRecord& tuning);
/// The tag of the metric by which trials are ordered; also works for a trial's record.
[[nodiscard]] std::string MetricTag(const control::v1::JobRecord& job);
/// The tags of all metrics: MetricTag, then those of furtherMetrics. Also works for a trial's record.
[[nodiscard]] std::vector<std::string> MetricTags(const control::v1::JobRecord& job);
/// Whether trials are stopped early. With several metrics none is, as in studies (tuning::JudgeTrial).
[[nodiscard]] bool StopsEarly(const control::v1::JobRecord& tuning);

/// Converts a job's record, after all checks, to that of a tuning job, which has no replicas itself.
void MakeTuning(control::v1::JobRecord& record);

/// The record of a new trial: the tuning job's machines, images and packages, and the values of `created`.
/// Its job_id is the tuning job's, because logs, labels and TF_CONFIG show this id.
[[nodiscard]] control::v1::JobRecord MakeTrial(const control::v1::JobRecord& tuning,
                                               const control::v1::Event::TrialCreated& created,
                                               SysTime create_time);

/// "gs://BUCKET/DIR/7" for trial "7"; empty for a job without jobDir. Source: spec section 4.
[[nodiscard]] std::string TrialJobDir(const control::v1::JobRecord& trial);

/// The program's --job-dir: the trial's directory, or the job's; empty if there is none.
[[nodiscard]] std::string JobDirOf(const control::v1::JobRecord& job);

/// "--NAME=VALUE" for each parameter, in the order of the spec: one token each, because otherwise negative
/// numbers and categories that begin with '-' would be read as flags. Source: spec section 4.
[[nodiscard]] std::vector<std::string> TrialFlags(const control::v1::JobRecord& trial);

/// "learning_rate=0.01, units=32", in the order of the spec.
[[nodiscard]] std::string ParametersText(
    const control::v1::JobRecord& job,
    const google::protobuf::Map<std::string, std::string>& hyperparameters);

/// The last value of each metric so far, with the step of the first one. Nullopt: a metric was not reported,
/// or its last value is not finite. Source: spec section 8; CompleteTrial of studies.
[[nodiscard]] std::optional<ml::v1::HyperparameterOutput_HyperparameterMetric> FinalMetric(
    const control::v1::JobRecord& trial, const replica::v1::MetricReport& report);

/// The values by metric, in the order of MetricTags.
[[nodiscard]] std::vector<double> MetricValues(
    const control::v1::JobRecord& job, const ml::v1::HyperparameterOutput_HyperparameterMetric& metric);

/// "accuracy 0.93, loss 0.25", in the order of MetricTags.
[[nodiscard]] std::string MetricsText(const control::v1::JobRecord& job,
                                      const ml::v1::HyperparameterOutput_HyperparameterMetric& metric);

/// The trial as an element of trainingOutput.trials, without web access. finalMetric is FinalMetric; a failed
/// trial has none. Source: spec section 3.
[[nodiscard]] ml::v1::HyperparameterOutput TrialOutput(const control::v1::JobRecord& trial,
                                                       const replica::v1::MetricReport& report);

/// One sentence about the trial: why it failed, was cancelled or stopped, or has no metric. Empty if there is
/// nothing to say.
[[nodiscard]] std::string TrialReason(const control::v1::JobRecord& trial);

/// Sorts the trials by the first metric: best first, those without a metric last, ties by number. Source:
/// spec section 3.
void SortTrials(bool maximize, std::vector<ml::v1::HyperparameterOutput>& trials);

/// The trial's state as the API shows it.
[[nodiscard]] ml::v1::HyperparameterOutput::State TrialState(ml::v1::Job::State state);

/// 7 for "7"; 0 for anything else.
[[nodiscard]] int TrialNumber(const std::string& trial_id);

/// A number for users: the shortest text that parses to the same number.
[[nodiscard]] std::string MetricText(double value);

}  // namespace trainyard::jobs
