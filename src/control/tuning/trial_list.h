#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "control/settings.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/control/v1/status.pb.h"

namespace trainyard::control {

/// How many points of a trial's curve are kept in memory and shown in its status.
inline constexpr int kCurveMax = 64;

/// The displayed state of a tuning job's trials, ended or not. Nothing else of an ended trial stays in
/// memory. A value.
class TrialList {
 public:
  struct Shown {
    std::int64_t uid = 0;  ///< 0: it has no record yet
    v1::JobStatus::Trial trial;
    double ml_units = 0;
  };

  /// Adds the trial of that number, or replaces its state.
  void AddTrial(const v1::Event::TrialCreated& created);
  /// The final state of a trial. A trial without a record was cancelled before it had one.
  void EndTrial(const v1::Event::TrialEnded& ended);
  /// The current state of a trial that has a record.
  void UpdateTrial(const Settings& settings, const v1::JobRecord& trial,
                   const replica::v1::MetricReport& report);

  [[nodiscard]] const Shown* Find(const std::string& trial_id) const;
  [[nodiscard]] const std::vector<Shown>& all() const noexcept { return trials_; }

  /// Fills in trainingOutput: trials best first, mlUnits.
  void Show(bool maximize, ml::v1::TrainingOutput& output) const;

 private:
  Shown& At(const std::string& trial_id);
  std::vector<Shown> trials_;  ///< by number
};

}  // namespace trainyard::control
