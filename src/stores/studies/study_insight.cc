#include "stores/studies/study_insight.h"

#include <utility>

#include "stores/studies/study_config.h"
#include "stores/studies/study_lookup.h"
#include "stores/studies/trial_values.h"

namespace trainyard::studies {

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
