#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "placement/plan.h"
#include "placement/queue.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The queue: who waits, who runs, which ports are leased. Loop thread only. Decisions are placement's; they
/// are made once per turn of the loop, however many jobs came or went in it.
class Admissions {
 public:
  /// Whether nothing on this machine listens on the TCP port. Injected: the real one binds it (port_probe.h).
  using PortProbe = std::function<bool(int port)>;
  using OnAdmitted = std::function<void(v1::Event::Admitted admission)>;

  /// `network`: of the jobs that are admitted from now on. Only HOST needs ports of the machine.
  Admissions(boost::asio::any_io_executor loop, placement::Capacity capacity, PortProbe probe,
             replica::v1::Manifest::Network network = replica::v1::Manifest::HOST);

  /// Puts the job into the queue. `on_admitted` runs in a later turn of the loop, at most once.
  void Enqueue(const v1::JobRecord& job, OnAdmitted on_admitted);
  /// Whoever waits for this job's admission goes away, the job does not: `on_admitted` is not called any
  /// more, the job keeps what it has.
  void Withdraw(std::int64_t uid);
  /// A job that a former server admitted: its endpoints stay its own. Nothing for one without endpoints. All
  /// of them in one turn with the first Enqueue: else what they have is given away.
  void Occupy(const v1::JobRecord& job);
  /// The job needs nothing any more, queued or admitted.
  void Leave(std::int64_t uid);

  /// Why and where the job waits; nothing if it doesn't.
  [[nodiscard]] std::optional<placement::Plan::Wait> WaitOf(std::int64_t uid) const;
  [[nodiscard]] const placement::Capacity& capacity() const noexcept { return capacity_; }

 private:
  struct Waiting {
    v1::JobRecord job;
    OnAdmitted on_admitted;
  };

  void PlanSoon();
  void PlanNow();
  void WaitForPorts();
  std::optional<int> LeasePort();
  bool GiveAddress(std::int64_t uid, int replica, replica::v1::Endpoint& endpoint);
  std::optional<v1::Event::Admitted> Admit(const v1::JobRecord& job, std::vector<std::string> notes);

  boost::asio::any_io_executor loop_;
  placement::Capacity capacity_;
  PortProbe probe_;
  replica::v1::Manifest::Network network_;
  std::map<std::int64_t, Waiting> waiting_;
  placement::Queue queue_;  ///< the gangs of waiting_
  std::map<std::int64_t, placement::Gang> running_;
  std::map<std::int64_t, std::vector<int>> ports_of_;
  std::set<int> leased_;
  std::string shortage_;  ///< what the first in the queue waits for; empty before anyone looked
  int next_port_ = placement::kLeasePortFirst;
  bool planning_ = false;
  bool waiting_for_ports_ = false;
  /// Shared with callbacks that are posted to the executor: they do nothing once the object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// The gang of a job, as placement sees it.
[[nodiscard]] placement::Gang GangOf(const v1::JobRecord& job);

/// Binds the port on all addresses for a moment. The real PortProbe.
[[nodiscard]] bool IsPortFree(int port);

}  // namespace trainyard::control
