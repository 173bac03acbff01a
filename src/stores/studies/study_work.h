#pragma once

#include <map>
#include <vector>

#include "base/result.h"
#include "rules/tuning/tuner.h"
#include "stores/studies/study_store.h"

namespace trainyard::studies {

/// The tuner of one study with all its trials, kept between suggestions. Only saves time: one that is rebuilt
/// from the store makes the same suggestions. One thread at a time.
class StudyWork {
 public:
  explicit StudyWork(const StoredStudy& study);

  /// The trials of the store that are included: see StudyStore::TrialsChanged. After a deletion, start with a
  /// new one.
  [[nodiscard]] std::int64_t revision() const noexcept { return revision_; }
  [[nodiscard]] std::int64_t deletions() const noexcept { return deletions_; }

  /// kInternal: a trial does not belong to this study.
  [[nodiscard]] Status Update(const StudyStore::Changes& changes);

  struct Suggestions {
    std::vector<tuning::Point> points;
    bool last = false;  ///< no further points are left after these
  };
  /// @param made_before  as Tuner::Suggest
  [[nodiscard]] Suggestions Suggest(int count, int made_before);

  /// Whether the study's stopping rule applies to the trial; never without a rule or with several metrics.
  /// The trial must be one that Update() added.
  [[nodiscard]] bool ShouldStop(int trial) const;

  [[nodiscard]] const tuning::StudySpec& spec() const noexcept { return tuner_.spec(); }

 private:
  [[nodiscard]] int PointsLeft(const std::vector<tuning::Point>& more, int enough) const;

  ml::v1::AutomatedStoppingConfig stopping_;
  std::int64_t deletions_;
  std::int64_t revision_ = 0;
  tuning::Tuner tuner_;
  std::vector<tuning::Trial> trials_;  ///< by id
};

}  // namespace trainyard::studies
