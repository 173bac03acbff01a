#include "engine/routed_allocator.h"

#include <algorithm>

namespace trainyard::engine {

namespace {

bool IsOfCluster(const Grant& grant) {
  return std::ranges::any_of(grant.slots(), [](const Slot& slot) { return !slot.agent().empty(); });
}

}  // namespace

Allocator::Capabilities RoutedAllocator::capabilities() const {
  const Capabilities here = here_.capabilities();
  const Capabilities cluster = cluster_.capabilities();
  return {.shared_files = here.shared_files && cluster.shared_files,
          .assigns_devices = here.assigns_devices && cluster.assigns_devices,
          .own_queue = here.own_queue && cluster.own_queue,
          .isolated_network = here.isolated_network && cluster.isolated_network};
}

std::variant<Grant, Pending> RoutedAllocator::Reserve(ReservationRequest request, ReservationEvents events) {
  const bool is_for_cluster = request.granted ? IsOfCluster(*request.granted) : is_for_cluster_(request.gang);
  const auto [chosen, is_new] = chosen_.try_emplace(request.key, is_for_cluster ? &cluster_ : &here_);
  return chosen->second->Reserve(std::move(request), std::move(events));
}

void RoutedAllocator::ReleaseDevices(ReservationKey key) {
  Of(key).ReleaseDevices(key);
  chosen_.erase(key);
}

/// One that was never asked for is nobody's: either one answers so.
Allocator& RoutedAllocator::Of(const ReservationKey& key) const {
  const auto chosen = chosen_.find(key);
  return chosen == chosen_.end() ? here_ : *chosen->second;
}

}  // namespace trainyard::engine
