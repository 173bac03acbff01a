#include "stores/studies/study_cases.h"

#include <utility>

#include "base/fnv1a.h"
#include "base/wire/time.h"
#include "stores/studies/study_config.h"
#include "stores/studies/study_store.h"
#include "stores/studies/trial_rules.h"
#include "stores/studies/trial_values.h"

namespace trainyard::studies {
namespace {

/// Applies one rule to one trial, in a transaction.
template <class Rule>
Result<ml::v1::Trial> Change(StudyStore& store, const TrialName& name, const Rule& rule) {
  TY_TRY(sqlite::Transaction transaction, store.Begin());
  TY_TRY(TrialOfStudy found, RequireTrial(store, name));
  const bool stopping = found.trial.trial.state() == ml::v1::Trial::STOPPING;
  TY_RETURN_IF_ERROR(rule(found.study, found.trial.trial));
  found.trial.stopped = stopping && found.trial.trial.state() == ml::v1::Trial::COMPLETED;
  TY_RETURN_IF_ERROR(store.PutTrial(found.study.uid, found.trial));
  TY_RETURN_IF_ERROR(transaction.Commit());
  return std::move(found.trial.trial);
}

}  // namespace

bool IsStudyId(std::string_view id) { return ValidateStudyId(id).has_value(); }

Result<ml::v1::Study> CreateStudy(StudyStore& store, const StudyName& name, const ml::v1::Study& asked,
                                  SysTime now) {
  TY_TRY(StoredStudy made, CreateForeignStudy(store, name, asked, {}, now));
  return std::move(made.study);
}

Result<StoredStudy> CreateForeignStudy(StudyStore& store, const StudyName& name, const ml::v1::Study& asked,
                                       std::string foreign, SysTime now) {
  TY_RETURN_IF_ERROR(ValidateStudyId(name.study_id));
  if (!asked.has_study_config())
    return std::unexpected(InvalidArgument("study_config", "This field is required."));
  TY_RETURN_IF_ERROR(ValidateConfig(asked.study_config()));
  StoredStudy made;
  made.seed = Fnv1a(name.ToString());  // the same suggestions on every machine
  made.study.set_name(name.ToString());
  made.study.set_state(ml::v1::Study::ACTIVE);
  *made.study.mutable_create_time() = wire::ToProto(now);
  *made.study.mutable_study_config() = asked.study_config();
  made.asked = std::move(foreign);
  Status added = store.AddStudy(name, made);
  if (!added && added.error().code == Code::kAlreadyExists)
    return std::unexpected(AlreadyExists("A study with this id already exists.", "study_id"));
  TY_RETURN_IF_ERROR(std::move(added));
  return made;
}

Result<ml::v1::Study> GetStudy(StudyStore& store, const StudyName& name) {
  TY_TRY(StoredStudy found, RequireStudy(store, name, "name"));
  return std::move(found.study);
}

Result<ml::v1::ListStudiesResponse> ListStudies(StudyStore& store, const std::string& project,
                                                const std::string& location) {
  TY_TRY(std::vector<StoredStudy> found, store.ListStudies(project, location));
  ml::v1::ListStudiesResponse listed;
  for (StoredStudy& study : found) *listed.add_studies() = std::move(study.study);
  return listed;
}

Status DeleteStudy(StudyStore& store, const StudyName& name) {
  TY_TRY(sqlite::Transaction transaction, store.Begin());
  TY_TRY(const StoredStudy found, RequireStudy(store, name, "name"));
  TY_RETURN_IF_ERROR(store.DropStudy(found.uid));
  return transaction.Commit();
}

Result<ml::v1::Trial> CreateTrial(StudyStore& store, const StudyName& name, const ml::v1::Trial& asked,
                                  SysTime now) {
  TY_TRY(sqlite::Transaction transaction, store.Begin());
  TY_TRY(StoredStudy study, RequireStudy(store, name, "parent"));
  StoredTrial made;
  TY_TRY(made.trial, MakeTrial(SpecOf(study.study.study_config(), study.seed), asked, now));
  made.id = study.next_trial++;
  made.trial.set_name(TrialName{.study = name, .id = made.id}.ToString());
  TY_RETURN_IF_ERROR(store.PutTrial(study.uid, made));
  TY_RETURN_IF_ERROR(store.PutStudy(study));
  TY_RETURN_IF_ERROR(transaction.Commit());
  return std::move(made.trial);
}

Result<ml::v1::Trial> GetTrial(StudyStore& store, const TrialName& name) {
  TY_TRY(TrialOfStudy found, RequireTrial(store, name));
  return std::move(found.trial.trial);
}

Result<ml::v1::ListTrialsResponse> ListTrials(StudyStore& store, const StudyName& name) {
  TY_TRY(const StoredStudy study, RequireStudy(store, name, "parent"));
  TY_TRY(std::vector<StoredTrial> trials, store.ListTrials(study.uid));
  ml::v1::ListTrialsResponse listed;
  for (StoredTrial& trial : trials) *listed.add_trials() = std::move(trial.trial);
  return listed;
}

Result<ml::v1::ListOptimalTrialsResponse> ListOptimalTrials(StudyStore& store, const StudyName& name) {
  TY_TRY(const StoredStudy study, RequireStudy(store, name, "parent"));
  TY_TRY(std::vector<StoredTrial> stored, store.ListTrials(study.uid, ml::v1::Trial::COMPLETED));
  std::vector<ml::v1::Trial> trials;
  for (StoredTrial& trial : stored) trials.push_back(std::move(trial.trial));
  ml::v1::ListOptimalTrialsResponse listed;
  for (const std::size_t index : OptimalTrials(SpecOf(study.study.study_config(), study.seed), trials))
    *listed.add_trials() = std::move(trials[index]);
  return listed;
}

Status DeleteTrial(StudyStore& store, const TrialName& name) {
  TY_TRY(sqlite::Transaction transaction, store.Begin());
  TY_TRY(TrialOfStudy found, RequireTrial(store, name));
  TY_RETURN_IF_ERROR(store.DropTrial(found.study.uid, found.trial.id));
  ++found.study.deletions;
  if (found.study.study.state() == ml::v1::Study::COMPLETED)
    found.study.study.set_state(ml::v1::Study::ACTIVE);
  TY_RETURN_IF_ERROR(store.PutStudy(found.study));
  return transaction.Commit();
}

Result<ml::v1::Trial> AddMeasurement(StudyStore& store, const TrialName& name,
                                     const ml::v1::AddTrialMeasurementRequest& asked, SysTime now) {
  return Change(store, name, [&asked, now](const StoredStudy&, ml::v1::Trial& trial) {
    return AddMeasurement(trial, asked, now);
  });
}

Result<ml::v1::Trial> CompleteTrial(StudyStore& store, const TrialName& name,
                                    const ml::v1::CompleteTrialRequest& asked, SysTime now) {
  return Change(store, name, [&asked, now](const StoredStudy& study, ml::v1::Trial& trial) {
    return Complete(SpecOf(study.study.study_config(), study.seed), trial, asked, now);
  });
}

Result<ml::v1::Trial> StopTrial(StudyStore& store, const TrialName& name) {
  return Change(store, name, [](const StoredStudy&, ml::v1::Trial& trial) { return Stop(trial); });
}

Result<StudyRevision> ReadRevision(StudyStore& store, const StudyName& name) {
  TY_TRY(const StoredStudy study, RequireStudy(store, name, "name"));
  TY_TRY(const std::int64_t changes, store.TrialsRevision(study.uid));
  return StudyRevision{.uid = study.uid, .changes = changes, .deletions = study.deletions};
}

Result<StudyEvidence> ReadEvidence(StudyStore& store, const StudyName& name) {
  TY_TRY(const StoredStudy study, RequireStudy(store, name, "name"));
  TY_TRY(const std::vector<StoredTrial> stored, store.ListTrials(study.uid));
  StudyEvidence evidence{.spec = SpecOf(study.study.study_config(), study.seed), .trials = {}, .stopped = {}};
  for (const StoredTrial& one : stored) {
    TY_TRY(tuning::Trial trial, ToTuning(evidence.spec, one.trial, one.id, one.stopped));
    evidence.trials.push_back(std::move(trial));
    if (one.stopped)
      evidence.stopped.push_back(
          {one.id, "It was told to stop before it was complete: its result is not final."});
  }
  return evidence;
}

}  // namespace trainyard::studies
