#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>

#include "base/clock.h"

/// When and how an agent ends. Pure: any thread.
namespace trainyard::agent {

/// A cluster's SIGTERM is followed by SIGKILL after 30 s by default (Slurm's KillWait).
inline constexpr std::chrono::seconds kSignalWaitMax{25};
/// How long before the deadline programs that go on are killed: their supervisors then record the end and
/// hand over.
inline constexpr std::chrono::seconds kHandOverTime{8};
/// Before the cluster's time limit: to stop what runs and to hand over.
inline constexpr std::chrono::seconds kLimitNotice{30};

/// The cluster's notice that the time limit is near. It comes to all processes of the slot: one that is not
/// ignored by default would end the user's program. Slurm is told in slurm::kEndSignal.
inline constexpr int kNoticeSignal = SIGURG;

enum class EndCause {
  kSignal,     ///< the cluster ends the slot now
  kTimeLimit,  ///< it will soon: its notice, or the clock
  kRelease,    ///< the server gives the slot back
};

struct EndPlan {
  bool is_told = true;  ///< to the server, which asked for it itself otherwise
  bool is_time_limit = false;
  std::string reason{};  ///< one sentence
  SysTime deadline{};    ///< what has not ended by then is killed
  friend bool operator==(const EndPlan&, const EndPlan&) = default;
};

/// @param until  the cluster's time limit, if it is known: without one only its signal sets an end.
/// @param reason  of kRelease.
[[nodiscard]] EndPlan PlanEnd(EndCause cause, SysTime now, std::optional<SysTime> until,
                              const std::string& reason = {});

/// What counts when a second cause comes: the first one's words, and the earlier deadline.
[[nodiscard]] EndPlan Combine(const EndPlan& first, const EndPlan& second);

}  // namespace trainyard::agent
