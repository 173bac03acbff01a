#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
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
  using OnWait = std::function<void()>;

  /// `network`: of the jobs that are admitted from now on. Only HOST needs ports of the machine.
  Admissions(boost::asio::any_io_executor loop, placement::Capacity capacity, PortProbe probe,
             replica::v1::Manifest::Network network = replica::v1::Manifest::HOST,
             placement::DevicePool devices = {});

  /// Where leases begin, whatever `spread` is: servers of one machine that use different numbers do not lease
  /// the same port in the time between the probe and the replica's own listening. Before the first Enqueue.
  void SpreadLeases(std::uint32_t spread) noexcept;

  /// Puts the job into the queue. `on_admitted` runs in a later turn of the loop, at most once; `on_wait`
  /// when it is known what the job waits for, and when that has become something else than a turn or another
  /// turn (placement::Wait::is_turn).
  void Enqueue(const v1::JobRecord& job, OnAdmitted on_admitted, OnWait on_wait = nullptr);
  /// Whoever waits for this job's admission goes away, the job does not: its callbacks are not called any
  /// more, the job keeps what it has.
  void Withdraw(std::int64_t uid);
  /// A job that a former server admitted: its endpoints and devices stay its own. Nothing for one without
  /// endpoints. All of them in one turn with the first Enqueue: else what they have is given away.
  void Occupy(const v1::JobRecord& job);
  /// The job needs no place and no ports any more, queued or admitted. It keeps its devices.
  void Leave(std::int64_t uid);

  /// Devices of an attempt whose job nobody looks after any more. `holder` is its id.
  void OccupyDevices(const std::string& holder, const std::string& job_id,
                     const replica::v1::Devices& devices);
  /// Nothing of the holder lives any more (proof: its supervisor is dead, its folder gone): others may have
  /// its devices. A job's holder is JobHolder(uid).
  void FreeDevices(const std::string& holder);
  [[nodiscard]] static std::string JobHolder(std::int64_t uid) { return std::to_string(uid); }

  /// Why and where the job waits; nothing if it doesn't.
  [[nodiscard]] std::optional<placement::Wait> WaitOf(std::int64_t uid) const;
  [[nodiscard]] const placement::Capacity& capacity() const noexcept { return capacity_; }

 private:
  struct Waiting {
    v1::JobRecord job;
    OnAdmitted on_admitted;
    OnWait on_wait;
    std::string said;      ///< the reason that on_wait was last called for; of a turn: kTurn
    bool planned = false;  ///< a plan has looked at it
  };

  void PlanSoon();
  void PlanNow();
  void WaitForPorts(std::int64_t uid);
  void TellWaiting(const std::set<std::int64_t>& formerly_blocked);
  void Tell(std::int64_t uid, Waiting& waiting);
  [[nodiscard]] placement::Gang LinedUp(placement::Gang gang) const;
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
  placement::DevicePool devices_;
  std::map<std::int64_t, placement::Shortage> blocked_;  ///< those that hold back others, by uid
  std::string blocker_;                                  ///< the job that holds back all behind it; or empty
  std::vector<std::int64_t> newcomers_;                  ///< that no plan has looked at
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
