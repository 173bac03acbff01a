#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/allocator.h"
#include "engine/local/port_leases.h"
#include "placement/plan.h"
#include "placement/project_use.h"
#include "placement/queue.h"

namespace trainyard::engine {

/// The room of this machine: who waits, who runs, which ports and devices are whose. Decisions are
/// placement's; they are made once per turn of the loop, however many reservations came or went in it. Never
/// revokes. Its queue is in memory: the jobs of a previous server ask again.
class LocalAllocator final : public Allocator {
 public:
  using Manifest = replica::v1::Manifest;
  /// What the machine has, and who has it.
  struct MachineUse {
    placement::Capacity capacity;
    double cpus_held = 0;
    std::int64_t memory_bytes_held = 0;
    struct Device {
      placement::Device device;
      std::optional<placement::JobLabel> holder;
    };
    std::vector<Device> devices;
    struct Project {
      placement::ProjectUse used;
      double part = 0;  ///< of what all projects used recently
      double weight = 1;
    };
    std::map<std::string, Project> projects;  ///< those with recent use
  };
  struct Options {
    placement::Capacity capacity;
    PortLeases::Probe probe = IsPortFree;
    std::uint32_t lease_spread = 0;  ///< PortLeases
    /// Of the gangs that are admitted from now on. Only HOST needs ports of the machine.
    Manifest::Network network = Manifest::HOST;
    placement::DevicePool devices{};
    /// What projects and principals may hold at once; outlives the allocator. Null: nothing is limited.
    const placement::Quotas* quotas = nullptr;
    std::map<std::string, double> project_weights{};  ///< of the fair order; those that are not named: 1
    placement::Naming naming{};                       ///< in reasons
    const Clock* clock = nullptr;  ///< outlives the allocator; null: time stands still, and no use counts
  };

  LocalAllocator(boost::asio::any_io_executor loop, Options options);

  [[nodiscard]] Capabilities capabilities() const override;
  std::variant<Grant, Pending> Reserve(ReservationRequest request, ReservationEvents events) override;
  void Detach(ReservationKey key) override;
  void Release(ReservationKey key) override;
  void ReleaseDevices(ReservationKey key) override;
  void HoldDevices(const std::string& attempt_id, const std::string& job_id,
                   const replica::v1::Devices& devices) override;
  void ReleaseDevices(const std::string& attempt_id) override;
  [[nodiscard]] std::optional<placement::Wait> WaitOf(ReservationKey key) const override;

  /// What a previous server knew of the projects' use. Before the first Reserve.
  void RestoreUse(const std::map<std::string, placement::ProjectUse>& use, SysTime as_of);
  /// The recent use of all projects, now.
  [[nodiscard]] std::map<std::string, placement::ProjectUse> Use() const { return uses_.All(Now()); }
  /// Called when a job has given its room back: its use is worth writing down. One observer; may be null.
  void OnUse(std::function<void()> observer) { on_use_ = std::move(observer); }
  /// Who has what of the machine.
  [[nodiscard]] MachineUse Occupancy() const;

 private:
  /// A job has one reservation at a time: its uid is the key of all maps.
  struct Waiting {
    ReservationKey key;
    ReservationEvents events;
    std::string said{};    ///< the reason that on_wait was last called for; of a turn: kTurn
    bool planned = false;  ///< a plan has looked at it
  };
  struct Running {
    placement::Gang gang;
    Grant grant;
  };

  void Restore(const ReservationRequest& request);
  void PlanSoon();
  void PlanNow();
  void WaitForPorts(std::int64_t uid);
  void TellWaiting(const std::set<std::int64_t>& previously_blocked);
  void Tell(Waiting& waiting);
  [[nodiscard]] placement::Gang LinedUp(placement::Gang gang) const;
  [[nodiscard]] SysTime Now() const { return clock_ != nullptr ? clock_->Now() : SysTime{}; }
  [[nodiscard]] double WeightOf(const std::string& project) const;
  void RankProjects();
  void WatchTheOrder();
  [[nodiscard]] placement::Holding AskedBy(const placement::Gang& gang) const;
  void StartUse(const placement::Gang& gang, const Grant& grant);
  [[nodiscard]] placement::QuotaGate Gate() const;
  [[nodiscard]] placement::Wait TurnOf(const placement::Gang& gang) const;
  bool GiveAddress(std::int64_t uid, int replica, Slot& slot);
  std::optional<Grant> MakeGrant(const placement::Gang& gang, placement::Plan::Admission admission);

  boost::asio::any_io_executor loop_;
  placement::Capacity capacity_;
  Manifest::Network network_;
  PortLeases ports_;
  std::map<std::int64_t, Waiting> waiting_;
  placement::Queue queue_;  ///< the gangs of waiting_
  std::map<std::int64_t, Running> running_;
  placement::DevicePool devices_;
  std::map<std::int64_t, placement::Shortage> blocked_;  ///< those that hold back others, by uid
  placement::JobLabel blocker_;                          ///< the job that holds back all behind it; or empty
  std::vector<std::int64_t> newcomers_;                  ///< that no plan has looked at
  const placement::Quotas* quotas_;
  std::map<std::string, double> weights_;
  placement::Naming naming_;
  const Clock* clock_;
  placement::ProjectUses uses_;
  placement::QuotaGate gate_;  ///< as of the last plan
  std::function<void()> on_use_;
  bool watching_order_ = false;
  bool planning_ = false;
  bool waiting_for_ports_ = false;
  /// Shared with callbacks that are posted to the executor: they do nothing once the object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::engine
