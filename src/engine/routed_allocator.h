#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "engine/allocator.h"

namespace trainyard::engine {

/// Room here and on a cluster, in one server: a job's region says where. Room that a job has on record stays
/// where it is. Loop thread only; both allocators outlive it.
class RoutedAllocator final : public Allocator {
 public:
  /// Whether a gang goes to the cluster; a function of the gang.
  using IsForCluster = std::function<bool(const placement::Gang& gang)>;

  RoutedAllocator(Allocator& here, Allocator& cluster, IsForCluster is_for_cluster)
      : here_(here), cluster_(cluster), is_for_cluster_(std::move(is_for_cluster)) {}

  [[nodiscard]] Capabilities capabilities() const override;
  std::variant<Grant, Pending> Reserve(ReservationRequest request, ReservationEvents events) override;
  void Detach(ReservationKey key) override { Of(key).Detach(key); }
  void Release(ReservationKey key) override { Of(key).Release(key); }
  void ReleaseDevices(ReservationKey key) override;
  // Orphans on nodes hold what their cluster gives.
  void HoldDevices(const std::string& attempt_id, const std::string& job_id,
                   const replica::v1::Devices& devices) override {
    here_.HoldDevices(attempt_id, job_id, devices);
  }
  void ReleaseDevices(const std::string& attempt_id) override { here_.ReleaseDevices(attempt_id); }
  [[nodiscard]] std::optional<placement::Wait> WaitOf(ReservationKey key) const override {
    return Of(key).WaitOf(key);
  }

 private:
  [[nodiscard]] Allocator& Of(const ReservationKey& key) const;

  Allocator& here_;
  Allocator& cluster_;
  IsForCluster is_for_cluster_;
  std::map<ReservationKey, Allocator*> chosen_;
};

}  // namespace trainyard::engine
