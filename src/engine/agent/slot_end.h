#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "engine/agent/attempt_requests.h"
#include "engine/agent/end_plan.h"
#include "engine/agent/uplink.h"
#include "engine/attempt_host.h"

namespace trainyard::agent {

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
  struct Around {
    Uplink& uplink;
    engine::AttemptHost& host;
    AttemptRequests& requests;
    std::string attempts_dir;
  };
  /// The objects in `around` outlive it.
  SlotEnd(boost::asio::any_io_executor loop, Around around);

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

  Around around_;
  std::optional<EndPlan> plan_;
  std::set<std::string> told_;  ///< attempts whose supervisors have their SIGTERM
  boost::asio::thread_pool files_{1};
  Event begun_;
  Event changed_;
};

}  // namespace trainyard::agent
