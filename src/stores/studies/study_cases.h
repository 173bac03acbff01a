#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rules/tuning/insight.h"
#include "rules/tuning/space.h"
#include "stores/studies/study_store.h"
#include "trainyard/ml/v1/study.pb.h"

/// The operations on a store, each a transaction that is durable when it returns. Blocking: on the thread of
/// the store. Errors, besides those of the rules and the store: kNotFound with field "name" or "parent".
namespace trainyard::studies {

inline constexpr int kSuggestionsMax = 1000;                ///< per request
inline constexpr std::chrono::days kOperationsKeptFor{30};  ///< once they are done

/// Whether a study may have this id: see ValidateStudyId.
[[nodiscard]] bool IsStudyId(std::string_view id);
/// kAlreadyExists; as ValidateStudyId and ValidateConfig.
[[nodiscard]] Result<ml::v1::Study> CreateStudy(StudyStore& store, const StudyName& name,
                                                const ml::v1::Study& asked, SysTime now);
/// The same for a request of another API, which is kept in that API's form. Returns what the store has.
[[nodiscard]] Result<StoredStudy> CreateForeignStudy(StudyStore& store, const StudyName& name,
                                                     const ml::v1::Study& asked, std::string foreign,
                                                     SysTime now);
[[nodiscard]] Result<ml::v1::Study> GetStudy(StudyStore& store, const StudyName& name);
[[nodiscard]] Result<ml::v1::ListStudiesResponse> ListStudies(StudyStore& store, const std::string& project,
                                                              const std::string& location);
[[nodiscard]] Status DeleteStudy(StudyStore& store, const StudyName& name);

[[nodiscard]] Result<ml::v1::Trial> CreateTrial(StudyStore& store, const StudyName& study,
                                                const ml::v1::Trial& asked, SysTime now);
[[nodiscard]] Result<ml::v1::Trial> GetTrial(StudyStore& store, const TrialName& name);
[[nodiscard]] Result<ml::v1::ListTrialsResponse> ListTrials(StudyStore& store, const StudyName& study);
[[nodiscard]] Result<ml::v1::ListOptimalTrialsResponse> ListOptimalTrials(StudyStore& store,
                                                                          const StudyName& study);
/// A study that was COMPLETED has more points again.
[[nodiscard]] Status DeleteTrial(StudyStore& store, const TrialName& name);
[[nodiscard]] Result<ml::v1::Trial> AddMeasurement(StudyStore& store, const TrialName& name,
                                                   const ml::v1::AddTrialMeasurementRequest& asked,
                                                   SysTime now);
[[nodiscard]] Result<ml::v1::Trial> CompleteTrial(StudyStore& store, const TrialName& name,
                                                  const ml::v1::CompleteTrialRequest& asked, SysTime now);
[[nodiscard]] Result<ml::v1::Trial> StopTrial(StudyStore& store, const TrialName& name);

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

/// Both: kNotFound with field "name".
[[nodiscard]] Result<StudyRevision> ReadRevision(StudyStore& store, const StudyName& name);
/// kInternal: a trial does not belong to the study.
[[nodiscard]] Result<StudyEvidence> ReadEvidence(StudyStore& store, const StudyName& name);

}  // namespace trainyard::studies
