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

/// Once all attempts have ended: how long a server that is there may take to forget them, from its last sign.
inline constexpr std::chrono::seconds kHandOverMax{5};

/// The end of a slot: supervisors are told to stop their programs and hand over, and the server to take what
/// is left.
///
///     living --Begin--> stopping --nothing lives--> handing over --all is forgotten--> over
///                          |                             |
///                          +--deadline, kills------------+--deadline, or the server wants no more--> over
///
/// Programs that do not end are killed some time before the deadline, so that their supervisors have a
/// record.
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
  /// What is around it outlives it.
  SlotEnd(boost::asio::any_io_executor loop, Around around);

  /// May be called again, with another cause.
  void Begin(const EndPlan& plan);
  /// To the server, if the slot is ending: each that welcomes the agent has to know.
  void Tell();
  /// An attempt has ended or was forgotten, or a server is there.
  void OnChange() { changed_.Set(); }

  /// Waits for the beginning, and returns when the agent may end.
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
