#include "stores/studies/study_work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/check.h"
#include "rules/tuning/early_stopping.h"
#include "stores/studies/study_config.h"
#include "stores/studies/trial_values.h"

namespace trainyard::studies {

StudyWork::StudyWork(const StoredStudy& study)
    : stopping_(study.study.study_config().automated_stopping_config()),
      deletions_(study.deletions),
      tuner_(SpecOf(study.study.study_config(), study.seed)) {}

Status StudyWork::Update(const StudyStore::Changes& changes) {
  for (const StoredTrial& changed : changes.trials) {
    TY_TRY(tuning::Trial trial, ToTuning(spec(), changed.trial, changed.id, changed.stopped));
    const auto at = std::ranges::lower_bound(trials_, changed.id, {}, &tuning::Trial::id);
    if (at != trials_.end() && at->id == changed.id) {
      *at = std::move(trial);
    } else {
      trials_.insert(at, std::move(trial));
    }
  }
  revision_ = changes.revision;
  return {};
}

/// How many points of the space are in neither the trials nor `more`; stops counting at `enough`.
int StudyWork::PointsLeft(const std::vector<tuning::Point>& more, int enough) const {
  const std::optional<double> count = tuning::CountPoints(spec().space);
  if (!count || *count - static_cast<double>(trials_.size() + more.size()) >= enough) return enough;
  std::set<tuning::Point> distinct;
  const auto add = [&distinct](tuning::Point point) {  // NaN has no order
    for (double& value : point)
      if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
    distinct.insert(std::move(point));
  };
  for (const tuning::Trial& trial : trials_) add(trial.point);
  for (const tuning::Point& point : more) add(point);
  const double left = *count - static_cast<double>(distinct.size());
  return static_cast<int>(std::clamp(left, 0.0, static_cast<double>(enough)));
}

StudyWork::Suggestions StudyWork::Suggest(int count, int made_before) {
  Suggestions made;
  if (const int left = PointsLeft({}, count); left > 0)
    made.points = tuner_.Suggest(trials_, left, made_before);
  made.last = std::ssize(made.points) < count || PointsLeft(made.points, 1) == 0;
  return made;
}

bool StudyWork::ShouldStop(int trial) const {
  using Config = ml::v1::AutomatedStoppingConfig;
  if (stopping_.implementation_config_case() == Config::IMPLEMENTATION_CONFIG_NOT_SET ||
      spec().metrics.size() != 1)
    return false;
  const bool median = stopping_.has_median_automated_stopping_config();
  const bool by_time = median ? stopping_.median_automated_stopping_config().use_elapsed_time()
                              : stopping_.decay_curve_stopping_config().use_elapsed_time();
  const auto at = std::ranges::lower_bound(trials_, trial, {}, &tuning::Trial::id);
  TY_CHECK(at != trials_.end() && at->id == trial);
  const auto rule = median ? tuning::StoppingRule::kMedian : tuning::StoppingRule::kDecayCurve;
  return tuning::JudgeTrial(spec(), trials_, *at, rule, by_time).stop;
}

}  // namespace trainyard::studies
