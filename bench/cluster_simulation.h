#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/guarded.h"
#include "base/clock.h"
#include "engine/remote/cluster_engine.h"
#include "engine/remote/remote_attempt_host.h"
#include "rules/placement/agent_boot.h"
#include "rules/placement/submission.h"

/// A simulated cluster, as a SimulatedService sees it.
namespace trainyard::bench {

/// The address from which the agents of all nodes connect.
inline constexpr const char* kNodeAddress = "192.0.2.7";

/// CPU time of the calling thread.
[[nodiscard]] double ThreadSeconds();

/// Stands still until it is moved. Any thread.
class SimulatedClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override {
    return now_.With([](const SysTime& now) { return now; });
  }
  void Advance(std::chrono::seconds by) {
    now_.With([by](SysTime& now) { now += by; });
  }

 private:
  Guarded<SysTime> now_{SysTime(std::chrono::hours(480'000))};
};

/// How simulated nodes would find the server.
[[nodiscard]] inline placement::AgentSource SimulatedSource() {
  return {.server_host = "192.0.2.1",
          .server_port = 17000,
          .certificate_sha256 = std::string(64, 'c'),
          .program_sha256 = std::string(64, 'p')};
}

/// Agents of some slots of a submission that begin, or that ended after they had begun.
struct AgentsChange {
  placement::Submission submission;
  std::string ticket;
  int first_slot = 0;
  int slots = 0;
  bool began = false;
};

/// A cluster without nodes between a real engine and simulated agents. Methods: one thread.
class ClusterSimulation {
 public:
  virtual ~ClusterSimulation() = default;
  /// A server opens its database. The simulation and `host` outlive the engine.
  [[nodiscard]] virtual Result<std::unique_ptr<engine::ClusterEngine>> Open(
      boost::asio::any_io_executor loop, const std::string& database, engine::RemoteAttemptHost& host) = 0;
  /// placement::AgentName's.
  [[nodiscard]] virtual std::string_view agent_mark() const noexcept = 0;
  /// Starts what fits, in the order of submission; returns what changed since the last call.
  [[nodiscard]] virtual std::vector<AgentsChange> Step(SysTime now) = 0;
  /// The agents of the submission have left by themselves.
  virtual void Complete(const placement::Submission& submission, SysTime now) = 0;
  /// Whether requests of the engine are under way, or answers on their way to it.
  [[nodiscard]] virtual bool is_busy() const = 0;
  /// Whether it does not answer.
  virtual void SetAway(bool away) = 0;
  /// While it is closed nothing starts.
  virtual void SetClosed(bool closed) = 0;
};

}  // namespace trainyard::bench
