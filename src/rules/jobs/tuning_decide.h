#pragma once

#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "rules/jobs/images.h"
#include "trainyard/control/v1/record.pb.h"

/// Decides what to do next for a tuning job: docs/tuning.md. Its trials are separate jobs, for which
/// NextActions decides. Pure: any thread.
namespace trainyard::jobs {

/// What is known about a trial that has not ended according to the tuning job's record.
struct ObservedTrial {
  std::string trial_id;
  bool has_record = false;                              ///< its record is in the store and it has a runner
  bool admitted = false;                                ///< it was admitted
  bool has_run = false;                                 ///< all its programs were running
  std::optional<control::v1::Event::TrialEnded> ended;  ///< its own record has ended
  std::string stop_early;    ///< why it should be stopped early; empty: it should not
  bool stop_sent = false;    ///< StopTrial was performed
  bool cancel_sent = false;  ///< CancelTrial was performed
};

/// The first trial that failed, for the tuning job's own error message.
struct FailedTrial {
  std::string trial_id;
  std::string parameters;  ///< jobs::ParametersText
  std::string error_message;
};

/// Kept in memory only; a restarted server rebuilds it from the trials' records.
struct TuningObservation {
  ImageObservation images;
  std::vector<ObservedTrial> trials;  ///< by number
  std::optional<FailedTrial> first_failure;
  bool suggesting = false;  ///< SuggestTrials was performed and the tuner has not finished yet
  std::deque<control::v1::Event> suggestions;  ///< the next trial's TrialCreated comes first
  bool nothing_left = false;                   ///< the tuner has no more points
  std::string tuner_failure;                   ///< its error since the last trial ended; empty: none
};

struct AppendTuningEvent {
  control::v1::Event event;  ///< without seq and time: the caller stamps them
};
/// Ask the tuner for this number of points, based on all current results.
struct SuggestTrials {
  int count = 0;
};
/// Store the trial's record and manage the trial.
struct StartTrial {
  std::string trial_id;
};
/// Stop a trial because other trials are better: its replicas get time to save, and the trial succeeds.
struct StopTrial {
  std::string trial_id;
  std::string reason;
};
struct CancelTrial {
  std::string trial_id;
  std::string reason;
};
struct WakeTuningAt {
  SysTime time;
};
using TuningAction = std::variant<AppendTuningEvent, ResolveImages, SuggestTrials, StartTrial, StopTrial,
                                  CancelTrial, WakeTuningAt>;

/// What to do next. At most one AppendTuningEvent, and it is the last action: the caller performs, records,
/// and calls it again. Idempotent like NextActions. `seen.trials` has each trial with a TrialCreated and no
/// TrialEnded event. An ended job yields nothing.
///
/// A trial is only suggested when it can start, so that the tuner knows every result so far; nothing is
/// suggested in advance. Source: spec hyperparameter-tuning.md sections 7 and 8.
[[nodiscard]] std::vector<TuningAction> NextTuningActions(const control::v1::JobRecord& job,
                                                          const TuningObservation& seen, SysTime now);

/// A job with maxFailedTrials 0 fails after this many failed trials, if none has succeeded before.
inline constexpr int kFirstFailuresMax = 5;

}  // namespace trainyard::jobs
