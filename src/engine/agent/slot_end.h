#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <csignal>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/clock.h"
#include "engine/agent/attempt_requests.h"
#include "engine/agent/uplink.h"
#include "engine/attempt_host.h"

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
/// @param reason  for kRelease. Pure: any thread.
[[nodiscard]] EndPlan PlanEnd(EndCause cause, SysTime now, std::optional<SysTime> until,
                              const std::string& reason = {});

/// The plan when a second cause is added: the reason of the first one and the earlier deadline.
[[nodiscard]] EndPlan Combine(const EndPlan& first, const EndPlan& second);

/// After all attempts have ended: how long a connected server may take to forget them, counted from its last
/// sign of activity.
inline constexpr std::chrono::seconds kHandOverMax{5};

/// Carries out the end of a slot: tells supervisors to stop their programs and to hand over, and the server
/// to collect the results.
///
///     living --Begin--> stopping --nothing lives--> handing over --all is forgotten--> over
///                          |                             |
///                          +--deadline, kills------------+--deadline, or the server wants no more--> over
///
/// Programs that do not end are killed some time before the deadline, so that their supervisors can record
/// the end.
///
/// Loop thread only.
class SlotEnd {
 public:
  struct Context {
    Uplink& uplink;
    engine::AttemptHost& host;
    AttemptRequests& requests;
    std::string attempts_dir;
  };
  /// The objects in `around` outlive it.
  SlotEnd(boost::asio::any_io_executor loop, Context context);

  /// May be called again, with another cause.
  void Begin(const EndPlan& plan);
  /// Tells the server that the slot is ending, if it is. Call it after every welcome: a new server does not
  /// know yet.
  void Tell();
  /// Call it when an attempt has ended or was forgotten, or when a server has connected.
  void OnChange() { changed_.Set(); }

  /// Waits for Begin, and returns when the agent may end.
  boost::asio::awaitable<void> Run();

 private:
  boost::asio::awaitable<void> Stop();
  boost::asio::awaitable<void> HandOver();
  boost::asio::awaitable<std::vector<std::string>> Living();
  boost::asio::awaitable<void> Signal(std::vector<std::string> living);
  boost::asio::awaitable<void> KillAll(std::vector<std::string> living);
  [[nodiscard]] std::chrono::milliseconds Rest() const;

  Context context_;
  std::optional<EndPlan> plan_;
  std::set<std::string> told_;  ///< attempts whose supervisors have their SIGTERM
  boost::asio::thread_pool files_{1};
  Event begun_;
  Event changed_;
};

}  // namespace trainyard::agent
