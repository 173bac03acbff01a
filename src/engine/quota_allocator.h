#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/allocator.h"
#include "rules/placement/queue.h"
#include "rules/placement/quota_gate.h"

namespace trainyard::engine {

/// Quotas before an allocator with a queue of its own that knows none. A gang whose quotas are used up is
/// held here, in the order of placement::Queue, and asks the allocator behind as soon as there is room in
/// them. It draws on them from then until Release, also while it waits behind; so does a gang with room on
/// record, or one that the allocator behind has kept from a previous server, from the call of Reserve on.
/// Which gangs go is decided once per turn of the loop; a gate that is open passes everything on at once.
/// Loop thread only. Source: docs/operators.md, "Quotas".
class QuotaAllocator final : public Allocator {
 public:
  struct Options {
    placement::QuotaGate gate;   ///< of the engine behind; nobody holds anything yet
    placement::Naming naming{};  ///< in reasons
    /// Whether the allocator behind has the reservation already, from a previous server. Null: never.
    std::function<bool(const ReservationKey& key)> is_behind{};
  };

  /// `behind` outlives it, and has own_queue.
  QuotaAllocator(boost::asio::any_io_executor loop, Allocator& behind, Options options);

  [[nodiscard]] Capabilities capabilities() const override { return behind_.capabilities(); }
  std::variant<Grant, Pending> Reserve(ReservationRequest request, ReservationEvents events) override;
  void Detach(ReservationKey key) override;
  void Release(ReservationKey key) override;
  void ReleaseDevices(ReservationKey key) override { behind_.ReleaseDevices(key); }
  void HoldDevices(const std::string& attempt_id, const std::string& job_id,
                   const replica::v1::Devices& devices) override {
    behind_.HoldDevices(attempt_id, job_id, devices);
  }
  void ReleaseDevices(const std::string& attempt_id) override { behind_.ReleaseDevices(attempt_id); }
  /// The position of one that is held counts those that are held before it.
  [[nodiscard]] std::optional<placement::Wait> WaitOf(ReservationKey key) const override;

 private:
  /// A gang that is held here; the gang itself is in the queue.
  struct Held {
    ReservationKey key;
    ReservationEvents events;
    placement::QuotaDemand demand;
    std::optional<placement::Shortage> shortage{};  ///< it holds back those that draw on the same quota
    std::optional<placement::JobLabel> before{};    ///< it is held back by this one
    /// The reason that on_wait was last called for, empty for a turn; nothing: it was not.
    std::optional<std::string> said{};
  };
  /// One that the allocator behind has.
  struct Passed {
    placement::Gang gang;
    placement::QuotaDemand demand;
  };

  void Count(const ReservationRequest& request);
  void Forget(const ReservationKey& key);
  void PlanSoon();
  void PlanNow();
  [[nodiscard]] std::vector<std::int64_t> Decide();
  void Ask(ReservationRequest request, ReservationEvents events);
  void TellChanges();

  boost::asio::any_io_executor loop_;
  Allocator& behind_;
  placement::QuotaGate gate_;  ///< with all that passed
  placement::Naming naming_;
  std::function<bool(const ReservationKey& key)> is_behind_;
  std::map<std::int64_t, Held> held_;  ///< by job uid: a job has one reservation at a time
  placement::Queue queue_;             ///< the gangs of held_
  std::map<ReservationKey, Passed> passed_;
  bool planning_ = false;
  /// Shared with callbacks that are posted to the executor: they do nothing once the object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::engine
