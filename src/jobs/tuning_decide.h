#pragma once

#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"

/// What to do next for a tuning job: docs/tuning.md. Its trials are jobs of their own, for which NextActions
/// decides. Pure: any thread.
namespace trainyard::jobs {

/// What is known of a trial that the tuning job's record has as not ended.
struct SeenTrial {
  std::string trial_id;
  bool has_record = false;                              ///< it is in the store, and looked after
  bool admitted = false;                                ///< it has or had room
  bool has_run = false;                                 ///< its programs were all running
  std::optional<control::v1::Event::TrialEnded> ended;  ///< its own record has ended
  std::string stop_early;                               ///< why it is not worth its time; empty: it is
  bool stop_sent = false;                               ///< StopTrial was performed
  bool cancel_sent = false;                             ///< CancelTrial was performed
};

/// The first trial that failed, for the tuning job's own error message.
struct FailedTrial {
  std::string trial_id;
  std::string parameters;  ///< jobs::ParametersText
  std::string error_message;
};

/// Kept in memory only; a restarted server rebuilds it from the trials' records.
struct TuningObservation {
  std::vector<SeenTrial> trials;  ///< in the order of their numbers
  std::optional<FailedTrial> first_failure;
  bool suggesting = false;                     ///< SuggestTrials was performed, the tuner has not answered
  std::deque<control::v1::Event> suggestions;  ///< the next trial's TrialCreated comes first
  bool nothing_left = false;                   ///< the tuner has answered that there is no further point
  std::string tuner_failure;  ///< what went wrong in it since a trial ended last; empty: nothing
};

struct AppendTuningEvent {
  control::v1::Event event;  ///< without seq and time: the caller stamps them
};
/// Ask the tuner for so many points, with all that is known now.
struct SuggestTrials {
  int count = 0;
};
/// Store the trial's record, look after it.
struct StartTrial {
  std::string trial_id;
};
/// Others do better: its replicas get time to save, and the trial is a success.
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
using TuningAction =
    std::variant<AppendTuningEvent, SuggestTrials, StartTrial, StopTrial, CancelTrial, WakeTuningAt>;

/// What to do next. At most one AppendTuningEvent, and it is the last action: the caller performs, records,
/// and asks again. Idempotent as NextActions. `seen.trials` has each trial that TrialCreated brought and no
/// TrialEnded took. An ended job yields nothing.
///
/// A trial is suggested only when there is room for it, so that the tuner knows every result there is;
/// nothing is suggested ahead. Source: spec hyperparameter-tuning.md sections 7 and 8.
[[nodiscard]] std::vector<TuningAction> NextTuningActions(const control::v1::JobRecord& job,
                                                          const TuningObservation& seen, SysTime now);

/// After how many failures, with no success before them, a job with maxFailedTrials 0 fails.
inline constexpr int kFirstFailuresMax = 5;

}  // namespace trainyard::jobs
