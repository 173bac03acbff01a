#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "rules/tuning/insight.h"
#include "stores/studies/study_store.h"

namespace trainyard::studies {

/// Identifies a state of a study: a different one after each write or deletion of a trial.
struct StudyRevision {
  std::int64_t uid = 0;
  std::int64_t changes = 0;  ///< the highest revision of its trials
  std::int64_t deletions = 0;
  friend bool operator==(const StudyRevision&, const StudyRevision&) = default;
};

/// The arguments of tuning::InsightOf, and the trials that were told to stop.
struct StudyEvidence {
  tuning::StudySpec spec;
  std::vector<tuning::Trial> trials;
  std::vector<tuning::Insight::Stopped> stopped;
};

/// Both are blocking: on the thread of the store. kNotFound with field "name".
[[nodiscard]] Result<StudyRevision> ReadRevision(StudyStore& store, const StudyName& name);
/// kInternal: a trial does not belong to the study.
[[nodiscard]] Result<StudyEvidence> ReadEvidence(StudyStore& store, const StudyName& name);

}  // namespace trainyard::studies
