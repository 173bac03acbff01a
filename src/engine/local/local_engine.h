#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/local/port_leases.h"
#include "engine/local/project_shares.h"
#include "rules/placement/plan.h"
#include "rules/placement/queue.h"

namespace trainyard::engine {

/// Allocates the resources of this machine: it knows which jobs wait, which run, and who has which ports and
/// devices. Decisions are made by placement, once per turn of the loop, however many reservations came or
/// went in it. It never revokes a grant. Its queue is in memory: the jobs of a previous server request again.
class LocalEngine final : public Engine {
 public:
  using Manifest = replica::v1::Manifest;
  /// What the machine has, and who uses it.
  struct MachineUse {
    placement::Capacity capacity;
    double cpus_held = 0;
    std::int64_t memory_bytes_held = 0;
    struct Device {
      placement::Device device;
      std::optional<placement::JobLabel> holder;
      std::string trouble;  ///< placement::DeviceHealth::trouble
    };
    std::vector<Device> devices{};
  };
  struct Options {
    placement::Capacity capacity;
    PortLeases::Probe probe = IsPortFree;
    std::uint32_t lease_spread = 0;  ///< PortLeases
    /// The network of gangs that are admitted from now on. Only HOST needs ports of the machine.
    Manifest::Network network = Manifest::HOST;
    placement::DevicePool devices{};
    ProjectShares::Options shares{};
  };

  LocalEngine(boost::asio::any_io_executor loop, Options options);

  void Tell(EngineEvents events) override { events_ = std::move(events); }
  [[nodiscard]] bool has_own_queue() const override { return false; }
  [[nodiscard]] placement::QuotaDemand DemandOf(const placement::Gang& gang) const override {
    return devices_.DemandOf(gang);
  }
  std::variant<Grant, Pending> Offer(ReservationRequest request) override;
  void Return(ReservationKey key) override;
  void Prove(ReservationKey key) override;
  void HoldForOrphan(const std::string& attempt_id, const std::string& job_id,
                     const replica::v1::Devices& devices) override;
  void ProveOrphan(const std::string& attempt_id) override;
  [[nodiscard]] std::optional<placement::Wait> WaitOf(ReservationKey key) const override;

  /// How projects share the machine.
  [[nodiscard]] ProjectShares& shares() noexcept { return shares_; }
  /// After a look at the machine's accelerators: jobs get the healthy ones (DevicePool::Observe). The holder
  /// of a changed device is its job's uid in decimal digits, or another name.
  std::vector<placement::DevicePool::Change> ObserveDevices(std::span<const placement::DeviceSigns> seen);
  /// Which jobs use which of the machine's resources.
  [[nodiscard]] MachineUse Occupancy() const;

 private:
  /// A job has one reservation at a time: its uid is the key of all maps.
  struct Waiting {
    ReservationKey key;
    std::string said{};    ///< the reason that on_wait was last called for; kTurn if it waits for its turn
    bool planned = false;  ///< a plan has considered it
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
  void TellWait(Waiting& waiting);
  [[nodiscard]] placement::Gang LinedUp(placement::Gang gang) const;
  void WatchTheOrder();
  void StartUse(const placement::Gang& gang, const Grant& grant);
  [[nodiscard]] placement::QuotaGate Gate() const {
    return events_.quotas == nullptr ? placement::QuotaGate() : *events_.quotas;
  }
  bool GiveAddress(std::int64_t uid, int replica, Slot& slot);
  std::optional<Grant> MakeGrant(const placement::Gang& gang, placement::Plan::Admission admission);

  boost::asio::any_io_executor loop_;
  EngineEvents events_;
  placement::Capacity capacity_;
  Manifest::Network network_;
  PortLeases ports_;
  std::map<std::int64_t, Waiting> waiting_;
  placement::Queue queue_;  ///< the gangs of waiting_
  std::map<std::int64_t, Running> running_;
  placement::DevicePool devices_;
  std::map<std::int64_t, placement::Shortage> blocked_;  ///< jobs that hold back others, by uid
  placement::JobLabel blocker_;                          ///< the job that holds back all behind it; or empty
  std::vector<std::int64_t> newcomers_;                  ///< not considered by any plan yet
  ProjectShares shares_;
  placement::QuotaGate gate_;  ///< as of the last plan
  bool watching_order_ = false;
  bool planning_ = false;
  bool waiting_for_ports_ = false;
  /// Shared with callbacks that are posted to the executor: they do nothing once the object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::engine
