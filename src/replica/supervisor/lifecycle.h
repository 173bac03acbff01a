#pragma once

#include <chrono>
#include <vector>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// How long to read output after the end: later output, from a process that escaped the sandbox, is lost.
inline constexpr std::chrono::milliseconds kDrainMax{5'000};
/// The pause between tries to remove a container whose daemon does not answer.
inline constexpr std::chrono::milliseconds kContainerRetry{1'000};
/// The pause between tries while the machine is short of something: processes, memory, descriptors, disk.
inline constexpr std::chrono::milliseconds kShortageRetry{250};
/// How long that is retried. Then the attempt ends for the shortage, and the server starts another one.
inline constexpr std::chrono::milliseconds kShortageWaitMax{60'000};
/// The pause between tries to write while the disk is full.
inline constexpr std::chrono::milliseconds kDiskRetry{100};
/// How long a supervisor that the system ends (SIGTERM) waits for the server to receive the rest.
inline constexpr std::chrono::milliseconds kShutdownWaitMax{5'000};

/// The state of one attempt. A value: Next makes the following one.
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
/// kKillAsked and kShutdownAsked lead to the same states as kStopAsked. kAbandoned leads from every state to
/// kDone.
struct Lifecycle {
  using Time = std::chrono::steady_clock::time_point;

  enum class State {
    kPreparing,  ///< finds or builds the program's environment; retried at the deadline, if there is one
    kReady,      ///< waits for the cluster; the launch is retried at the deadline, if there is one
    kRunning,    ///< the program's process is running
    kStopping,   ///< it was asked to end, and is killed at the deadline; then there is no deadline any more
    kDraining,   ///< the process has ended; its output is read, at most until the deadline
    kRecording,  ///< its lines are stored, then the exit record; not before the deadline, if there is one
    kEnded,      ///< waits to be dismissed; when the system shuts down, at most until the deadline
    kDone,
  };

  State state = State::kPreparing;
  v1::Phase phase = v1::PREPARING;    ///< as reported to the server
  bool shutting_down = false;         ///< the system has asked the supervisor to end
  Time deadline = Time::max();        ///< the state's deadline; max: none
  std::chrono::milliseconds grace{};  ///< from kStopping's start to its deadline; never changes

  /// Whether the exit is decided: events of the program do not matter any more.
  [[nodiscard]] bool is_ending() const noexcept { return state >= State::kRecording; }
  friend bool operator==(const Lifecycle&, const Lifecycle&) = default;
};

/// What happens to an attempt. If the diagram has no arrow for it in the present state, nothing changes.
enum class AttemptEvent {
  kPrepared,
  kFailed,  ///< the program cannot be prepared or started
  kShort,   ///< not now: the machine is short of something
  kClusterKnown,
  kLaunched,
  kStopAsked,
  kKillAsked,
  kShutdownAsked,  ///< by a signal to the supervisor
  kDeadlinePassed,
  kProcessEnded,
  kOutputSeen,
  kOutputOver,  ///< all processes that can write the output have closed it
  kLinesStored,
  kRecorded,
  kContainerLeft,  ///< the record has to wait: the container may still run
  kDiskRefused,    ///< the record could not be written
  kDismissed,
  kAbandoned,  ///< the attempt's directory was removed
};

/// The supervisor's actions on entering the next state, in this order.
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
  kGiveUp,  ///< kills everything that still runs
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
