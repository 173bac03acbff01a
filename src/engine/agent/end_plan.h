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
/// Programs that still run this long before the deadline are killed, so that their supervisors can record the
/// end and hand over.
inline constexpr std::chrono::seconds kHandOverTime{8};
/// The agent starts to stop programs and to hand over this long before the cluster's time limit.
inline constexpr std::chrono::seconds kLimitNotice{30};

/// The signal with which the cluster announces that the time limit is near. It is sent to all processes of
/// the slot, so it must be one that is ignored by default: any other would end the user's program.
/// slurm::kEndSignal requests it from Slurm.
inline constexpr int kNoticeSignal = SIGURG;

enum class EndCause {
  kSignal,     ///< the cluster ends the slot now
  kTimeLimit,  ///< the cluster will end it soon, according to its signal or to the clock
  kRelease,    ///< the server returns the slot
};

struct EndPlan {
  bool is_told = true;  ///< whether the server is told; not if the server itself requested the end
  bool is_time_limit = false;
  std::string reason{};  ///< one sentence
  SysTime deadline{};    ///< programs that have not ended by then are killed
  friend bool operator==(const EndPlan&, const EndPlan&) = default;
};

/// @param until  the cluster's time limit, if it is known; without one, only the cluster's signal ends the
/// slot.
/// @param reason  for kRelease.
[[nodiscard]] EndPlan PlanEnd(EndCause cause, SysTime now, std::optional<SysTime> until,
                              const std::string& reason = {});

/// The plan when a second cause is added: the reason of the first one and the earlier deadline.
[[nodiscard]] EndPlan Combine(const EndPlan& first, const EndPlan& second);

}  // namespace trainyard::agent
