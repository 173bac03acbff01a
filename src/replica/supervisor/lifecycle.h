#pragma once

#include <chrono>
#include <vector>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// Output that comes later from something that got away from its sandbox is not waited for.
inline constexpr std::chrono::milliseconds kDrainMax{5'000};
/// Between tries to remove a container whose daemon does not answer.
inline constexpr std::chrono::milliseconds kContainerRetry{1'000};
/// Between tries at what the machine lacks something for: processes, memory, descriptors, disk.
inline constexpr std::chrono::milliseconds kShortageRetry{250};
/// How long it is tried. Then the attempt ends for the shortage, and the server starts another one.
inline constexpr std::chrono::milliseconds kShortageWaitMax{60'000};
/// Between tries at what a full disk refuses.
inline constexpr std::chrono::milliseconds kDiskRetry{100};
/// How long a supervisor that the system ends (SIGTERM) waits for the server to take the rest.
inline constexpr std::chrono::milliseconds kShutdownWaitMax{5'000};

/// How far one attempt is. A value: Next makes the one that follows.
///
///     kPreparing --kPrepared--> kReady --kLaunched--> kRunning --kStopAsked--> kStopping
///         |                       |                      |                         |
///     kFailed, kStopAsked     kFailed, kStopAsked    kProcessEnded           kProcessEnded
///         |                       |                      v                         |
///         |                       |                  kDraining <-------------------+
///         |                       |                      | kOutputOver
///         |                       v                      |
///         +-----------------> kRecording <---------------+
///                                 | kRecorded
///                                 v
///                              kEnded --kDismissed--> kDone
///
/// kKillAsked and kShutdownAsked lead where kStopAsked leads. kAbandoned leads from everywhere to kDone.
struct Lifecycle {
  using Time = std::chrono::steady_clock::time_point;

  enum class State {
    kPreparing,  ///< what the program runs in is looked for, or made; again at the deadline, if there is one
    kReady,      ///< waits for the cluster; is launched again at the deadline, if there is one
    kRunning,    ///< the program's process lives
    kStopping,   ///< it was asked to end, and is killed at the deadline; after that there is none
    kDraining,   ///< it has ended; its output is read, at most until the deadline
    kRecording,  ///< its lines are stored, then the exit record; not before the deadline, if there is one
    kEnded,      ///< waits to be dismissed; when the system shuts down, at most until the deadline
    kDone,
  };

  State state = State::kPreparing;
  v1::Phase phase = v1::PREPARING;    ///< what the server is told
  bool shutting_down = false;         ///< the system has asked the supervisor to end
  Time deadline = Time::max();        ///< of the state; max: none
  std::chrono::milliseconds grace{};  ///< from kStopping's start to its deadline; never changes

  /// The exit is decided: nothing that happens to the program matters any more.
  [[nodiscard]] bool is_ending() const noexcept { return state >= State::kRecording; }
  friend bool operator==(const Lifecycle&, const Lifecycle&) = default;
};

/// What happens to an attempt. In a state that the diagram gives no way for it, it changes nothing.
enum class AttemptEvent {
  kPrepared,
  kFailed,  ///< the program cannot be prepared, or cannot be started
  kShort,   ///< not now: the machine lacks something for it
  kClusterKnown,
  kLaunched,
  kStopAsked,
  kKillAsked,
  kShutdownAsked,  ///< by a signal to the supervisor
  kDeadlinePassed,
  kProcessEnded,
  kOutputSeen,
  kOutputOver,  ///< everything that can write the output has closed it
  kLinesStored,
  kRecorded,
  kContainerLeft,  ///< the record has to wait: the container may still run
  kDiskRefused,    ///< the record could not be written
  kDismissed,
  kAbandoned,  ///< the attempt's directory was removed
};

/// What the supervisor does when it enters the next state, in this order.
enum class Action {
  kSendPhase,
  kPrepare,
  kLaunch,  ///< answers kLaunched, kShort or kFailed
  kSayStop,
  kEndUnstarted,  ///< decides the exit of a program that never ran
  kTerminate,
  kKill,
  kReap,
  kFinish,  ///< decides the exit of a program that ran
  kGiveUp,  ///< kills what there is
  kRecord,  ///< answers kRecorded, kContainerLeft or kDiskRefused
};

struct AttemptTransition {
  Lifecycle next;
  std::vector<Action> actions;  ///< only the last may answer with an event
  friend bool operator==(const AttemptTransition&, const AttemptTransition&) = default;
};

/// The one transition function. Pure: any thread.
[[nodiscard]] AttemptTransition Next(const Lifecycle& from, AttemptEvent event, Lifecycle::Time now);

}  // namespace trainyard::replica
