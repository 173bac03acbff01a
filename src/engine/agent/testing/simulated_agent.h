#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/clock.h"
#include "engine/agent/attempt_requests.h"
#include "engine/agent/uplink.h"
#include "engine/fake/fake_attempt_host.h"
#include "engine/testing/simulated_line.h"

namespace trainyard::agent {

/// The process of one slot on a node, for the simulation: it speaks the real agents' protocol over a
/// connection in memory, with their code for frames and requests, and its attempts are simulated ones. As a
/// real one it connects again and again, ends its slot in order when it is told to, and its supervisors
/// outlive it. Loop thread only.
class SimulatedAgent final : public std::enable_shared_from_this<SimulatedAgent> {
 public:
  struct Place {
    std::int64_t job = 0;  ///< of Slurm
    int slot = 0;
    std::string node;
    std::string ticket;
    std::string instance;
  };
  /// The world around it, which outlives it.
  struct World {
    const Clock& clock;
    std::mt19937_64& random;
    engine::FakeAttemptHost& replicas;
    Uplink& uplink;  ///< never used: agents without shells do not need it
    /// A new connection to the server; null: there is none.
    std::function<std::unique_ptr<engine::SimulatedLine>(const std::string& node)> connect;
    /// The attempt's supervisor is killed.
    std::function<void(const std::string& attempt_id)> lose;
    /// The attempt's supervisor is told to end (SIGTERM).
    std::function<void(const std::string& attempt_id)> shut_down;
    std::function<void(std::string line)> say;
  };
  SimulatedAgent(boost::asio::any_io_executor loop, const World& world, Place place);
  ~SimulatedAgent();

  /// Returns when the agent has ended.
  boost::asio::awaitable<void> Run();

  [[nodiscard]] const Place& place() const noexcept { return place_; }
  [[nodiscard]] bool lives() const noexcept { return !over_; }
  [[nodiscard]] bool is_welcome() const noexcept { return control_ != nullptr; }
  [[nodiscard]] bool Has(const std::string& attempt_id) const { return attempts_.contains(attempt_id); }

  void OnAttemptGone(const std::string& attempt_id);
  /// The cluster ends the slot, because of its time limit or at once; then everything is dead after `grace`.
  void EndSlot(bool is_time_limit, std::chrono::milliseconds grace);
  /// All processes of the slot are killed.
  void Kill();
  void CutLine();
  /// The network loses everything for so long.
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
  void CutSupervisors();
  [[nodiscard]] std::vector<std::string> Living() const;

  boost::asio::any_io_executor loop_;
  const World& world_;
  Place place_;
  std::set<std::string> attempts_;  ///< that were started and not forgotten
  std::unique_ptr<engine::SimulatedLine> line_;
  Control control_;  ///< null unless welcomed
  std::unique_ptr<End> end_;
  SysTime unreachable_until_{};
  bool over_ = false;
  Event changed_;
  Event ending_;
  Event done_;
  std::unique_ptr<Attempts> host_;
  Terminals terminals_;
  AttemptRequests requests_;
};

}  // namespace trainyard::agent
