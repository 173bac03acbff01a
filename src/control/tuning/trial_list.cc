#include "control/tuning/trial_list.h"

#include "control/run/web_access.h"
#include "rules/jobs/trial.h"

namespace trainyard::control {

namespace {

using Measurements = google::protobuf::RepeatedPtrField<replica::v1::Measurement>;

/// Drops points that are too close to each other; keeps the last one.
Measurements Thinned(const Measurements& curve) {
  if (curve.size() <= kCurveMax) return curve;
  Measurements thin;
  for (int i = 0; i < kCurveMax; ++i) {
    const std::int64_t position = static_cast<std::int64_t>(i) * (curve.size() - 1) / (kCurveMax - 1);
    *thin.Add() = curve.Get(static_cast<int>(position));
  }
  return thin;
}

replica::v1::MetricReport Thinned(const replica::v1::MetricReport& report) {
  replica::v1::MetricReport thin;  // not a copy: most points are dropped
  *thin.mutable_seen_tags() = report.seen_tags();
  *thin.mutable_places() = report.places();
  thin.set_place(report.place());
  *thin.mutable_measurements() = Thinned(report.measurements());
  for (const replica::v1::MetricReport::Further& further : report.further()) {
    replica::v1::MetricReport::Further& shown = *thin.add_further();
    shown.set_tag(further.tag());
    *shown.mutable_measurements() = Thinned(further.measurements());
  }
  return thin;
}

}  // namespace

TrialList::Shown& TrialList::At(const std::string& trial_id) {
  const auto number = static_cast<std::size_t>(jobs::TrialNumber(trial_id));
  if (trials_.size() < number) trials_.resize(number);
  return trials_.at(number - 1);
}

void TrialList::AddTrial(const v1::Event::TrialCreated& created) {
  ml::v1::HyperparameterOutput& output = *At(created.trial_id()).trial.mutable_output();
  output.set_trial_id(created.trial_id());
  *output.mutable_hyperparameters() = created.hyperparameters();
  output.set_state(ml::v1::HyperparameterOutput::QUEUED);
}

void TrialList::EndTrial(const v1::Event::TrialEnded& ended) {
  Shown& shown = At(ended.trial_id());
  if (shown.uid == 0) shown.trial.mutable_output()->set_state(ended.state());
}

void TrialList::UpdateTrial(const Settings& settings, const v1::JobRecord& record,
                            const replica::v1::MetricReport& report) {
  Shown& shown = At(record.trial().trial_id());
  shown.uid = record.uid();
  shown.ml_units = record.job().training_output().consumed_ml_units();
  *shown.trial.mutable_output() = jobs::TrialOutput(record, report);
  for (const auto& [task_name, uri] : WebAccessUris(settings, record))
    (*shown.trial.mutable_output()->mutable_web_access_uris())[task_name] = uri;
  *shown.trial.mutable_report() = Thinned(report);
  shown.trial.set_reason(jobs::TrialReason(record));
}

const TrialList::Shown* TrialList::Find(const std::string& trial_id) const {
  const auto number = static_cast<std::size_t>(jobs::TrialNumber(trial_id));
  return number == 0 || number > trials_.size() ? nullptr : &trials_[number - 1];
}

void TrialList::Show(bool maximize, ml::v1::TrainingOutput& output) const {
  std::vector<ml::v1::HyperparameterOutput> trials;
  double units = 0;
  for (const Shown& shown : trials_) {
    if (shown.trial.output().trial_id().empty()) continue;
    trials.push_back(shown.trial.output());
    units += shown.ml_units;
  }
  jobs::SortTrials(maximize, trials);
  output.clear_trials();
  for (ml::v1::HyperparameterOutput& trial : trials) *output.add_trials() = std::move(trial);
  if (units > 0) output.set_consumed_ml_units(units);
}

}  // namespace trainyard::control
