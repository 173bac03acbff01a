#include "programs/node/device_looks.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/async/file.h"

namespace trainyard::node {
namespace {

std::vector<std::string> BusIds(const Places& places) {
  std::vector<std::string> ids;
  for (const auto& entry : PathsIn(places.root + "/proc/driver/nvidia/gpus")) ids.push_back(entry.filename());
  std::ranges::sort(ids);
  return ids;
}

std::vector<std::string> UuidsOf(const Inventory& found) {
  std::vector<std::string> uuids;
  for (const auto& [id, signs] : found.signs) {
    if (std::ranges::find(uuids, signs.uuid) == uuids.end()) uuids.push_back(signs.uuid);
  }
  return uuids;
}

}  // namespace

DeviceLooks::Look DeviceLooks::Take() {
  std::map<std::string, std::vector<std::uint64_t>> errors;
  if (events_) errors = events_->Take();
  // A loaded NVML knows the GPUs that it found when it was loaded: it is loaded anew if there may be others,
  // or if one has failed and may be back.
  std::vector<std::string> bus_ids = BusIds(places_);
  if (std::exchange(bus_ids_, bus_ids) != bus_ids || some_fail_) events_.reset();
  Inventory found = FindDevices(places_);
  Look look{.devices = {}, .notes = std::move(found.notes)};
  for (placement::Device& device : found.devices) {
    const auto signs = found.signs.find(device.id);
    const bool is_gpu = device.kind == placement::Device::Kind::kGpu;
    if (is_gpu && has_answered_ && signs == found.signs.end()) continue;
    placement::DeviceSigns& seen = look.devices.emplace_back();
    seen.device = std::move(device);
    if (signs == found.signs.end()) continue;
    seen.memory_errors = signs->second.memory_errors;
    seen.xids = errors[signs->second.uuid];
  }
  some_fail_ = !look.notes.empty();
  has_answered_ = has_answered_ || !found.signs.empty();
  Listen(found, look.notes);
  return look;
}

/// Registers for errors of the GPUs that are there now. One that is gone leaves a set that names it no more.
void DeviceLooks::Listen(const Inventory& found, std::vector<std::string>& notes) {
  std::vector<std::string> uuids = UuidsOf(found);
  if (std::exchange(uuids_, uuids) != uuids || uuids.empty()) events_.reset();
  if (uuids.empty()) return;
  if (!events_) {
    auto opened = NvmlEvents::Open(places_.nvml, uuids);
    if (!opened) {
      notes.push_back("errors (Xid) of GPUs are not reported here (" + opened.error().message + ")");
      return;
    }
    events_.emplace(*std::move(opened));
  }
  for (const std::string& note : events_->unreported()) notes.push_back(note);
}

}  // namespace trainyard::node
