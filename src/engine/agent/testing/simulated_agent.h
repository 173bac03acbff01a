#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/clock.h"
#include "engine/agent/attempt_requests.h"
#include "engine/agent/testing/agent_line.h"
#include "engine/agent/uplink.h"
#include "engine/attempt_host.h"

namespace trainyard::agent {

/// An agent on a node, for the simulation: it speaks the real protocol over a connection in memory, with the
/// real agents' code for frames, sessions and requests. Like a real one it connects again and again, and ends
/// its slot in order when it is told to. Its attempts are simulated ones. Loop thread only.
class SimulatedAgent final : public std::enable_shared_from_this<SimulatedAgent> {
 public:
  struct Place {
    std::int64_t job = 0;  ///< of Slurm
    int slot = 0;
    std::string node;
    std::string ticket;
    std::string instance;
  };
  /// The things that the agent finds around it.
  struct World {
    virtual ~World() = default;
    [[nodiscard]] virtual const Clock& clock() const = 0;
    /// A random number from 0 to `bound` - 1.
    [[nodiscard]] virtual std::size_t Below(std::size_t bound) = 0;
    /// A new connection to the server; null: there is none.
    [[nodiscard]] virtual std::unique_ptr<AgentLine> Connect(const std::string& node) = 0;
    /// The agent introduces itself to the server.
    virtual void OnHello(const SimulatedAgent& agent) = 0;
    /// The server has given the agent its slot.
    virtual void OnWelcome(const SimulatedAgent& agent) = 0;
    /// The server has refused it: it ends.
    virtual void OnRefused(const SimulatedAgent& agent, const std::string& reason) = 0;
    /// The agent starts an attempt.
    virtual void OnStart(const SimulatedAgent& agent) = 0;

    // The supervisors of all attempts, on all nodes.
    [[nodiscard]] virtual engine::AttemptHost& replicas() = 0;
    [[nodiscard]] virtual std::vector<std::string> Alive() = 0;
    virtual void Kill(const std::string& attempt_id) = 0;
    /// SIGTERM.
    virtual void ShutDown(const std::string& attempt_id) = 0;
    /// The supervisor loses its connection to the server, and connects again if its agent is connected.
    virtual void Reconnect(const std::string& attempt_id) = 0;
  };
  /// `world` and `uplink` outlive it. `uplink` is not used: only agents that open shells need it.
  SimulatedAgent(boost::asio::any_io_executor loop, World& world, Uplink& uplink, Place place);
  ~SimulatedAgent();

  /// Returns when the agent has ended.
  boost::asio::awaitable<void> Run();

  [[nodiscard]] const Place& place() const noexcept { return place_; }
  [[nodiscard]] bool lives() const noexcept { return !over_; }
  [[nodiscard]] bool is_welcome() const noexcept { return control_ != nullptr; }
  /// Whether its processes reach the server.
  [[nodiscard]] bool is_connected() const noexcept { return is_welcome() && !is_silent_; }
  [[nodiscard]] bool Has(const std::string& attempt_id) const { return attempts_.contains(attempt_id); }

  [[nodiscard]] const std::set<std::string>& attempts() const noexcept { return attempts_; }

  void OnAttemptGone(const std::string& attempt_id);
  /// The cluster ends the slot: now, or soon because of its time limit. What lives after `grace` is killed.
  void EndSlot(bool is_time_limit, std::chrono::milliseconds grace);
  /// All processes of the slot are killed.
  void Kill();
  void CutLine();
  /// The network loses everything for that time.
  void FallSilent(std::chrono::milliseconds duration);

 private:
  class Attempts;
  struct End {
    std::string reason;
    bool is_told = true;
    bool is_time_limit = false;
    SysTime deadline{};
  };
  using Control = std::shared_ptr<ControlStream>;

  boost::asio::awaitable<void> StayConnected();
  boost::asio::awaitable<void> Serve(mux::Session& session);
  boost::asio::awaitable<void> Talk(mux::Session& session);
  boost::asio::awaitable<void> Listen(Control control);
  boost::asio::awaitable<v1::FromAgent::Hello> MakeHello();
  void Take(v1::ToAgent frame, const Control& control);
  void Begin(End end);
  void TellEnd();
  boost::asio::awaitable<void> EndInOrder();
  boost::asio::awaitable<void> StopAttempts();
  boost::asio::awaitable<void> HandOver();
  boost::asio::awaitable<void> Finish();
  [[nodiscard]] std::chrono::milliseconds Rest() const;
  void ReconnectSupervisors();
  [[nodiscard]] std::vector<std::string> Living() const;

  boost::asio::any_io_executor loop_;
  World& world_;
  Place place_;
  std::set<std::string> attempts_;  ///< those whose start began, until they are forgotten
  std::unique_ptr<AgentLine> line_;
  Control control_;  ///< null unless welcomed
  std::unique_ptr<End> end_;
  SysTime unreachable_until_{};
  bool is_silent_ = false;   ///< nothing passes on `line_`
  bool is_leaving_ = false;  ///< it does not connect again
  bool over_ = false;
  Event changed_;
  Event ending_;
  Event done_;
  std::unique_ptr<Attempts> host_;
  Terminals terminals_;
  AttemptRequests requests_;
};

}  // namespace trainyard::agent
