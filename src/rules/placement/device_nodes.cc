#include "rules/placement/device_nodes.h"

#include <initializer_list>
#include <optional>

#include "base/number.h"

namespace trainyard::placement {
namespace {

constexpr unsigned kControlMinor = 255;
constexpr unsigned kModesetMinor = 254;

std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

/// The number of the first of these drivers among the character devices.
std::optional<unsigned> MajorOf(std::string_view devices, std::initializer_list<std::string_view> names) {
  while (!devices.empty()) {
    std::string_view line = TakeLine(devices);
    if (line.starts_with("Block")) break;
    const std::size_t begin = line.find_first_not_of(' ');
    const std::size_t space = line.find(' ', begin == std::string_view::npos ? 0 : begin);
    if (space == std::string_view::npos) continue;
    for (const std::string_view name : names) {
      if (line.substr(space + 1) == name) return WholeNumber<unsigned>(line.substr(begin, space - begin));
    }
  }
  return std::nullopt;
}

/// The value of a line "NAME: VALUE".
unsigned Param(std::string_view params, std::string_view name, unsigned otherwise) {
  while (!params.empty()) {
    const std::string_view line = TakeLine(params);
    if (!line.starts_with(name) || line.substr(name.size(), 2) != ": ") continue;
    return WholeNumber<unsigned>(line.substr(name.size() + 2)).value_or(otherwise);
  }
  return otherwise;
}

std::string NoteFor(const std::vector<MissingNode>& nodes, bool has_uvm) {
  std::string missing;
  for (const MissingNode& node : nodes) missing += (missing.empty() ? "" : ", ") + node.path;
  if (!has_uvm) missing += std::string(missing.empty() ? "" : ", ") + "/dev/nvidia-uvm";
  if (missing.empty()) return {};
  return "CUDA needs device files that are not there (" + missing +
         "): as root, run nvidia-modprobe -c=0 -u, once after each boot";
}

}  // namespace

NodePlan PlanNodes(const DriverFiles& files) {
  NodePlan plan;
  const auto driver = MajorOf(files.devices, {"nvidia", "nvidia-frontend", "nvidiactl"});
  if (!driver) return plan;
  const auto add = [&](const std::string& path, unsigned major, unsigned minor) {
    if (!files.existing.contains(path)) plan.nodes.push_back({path, major, minor});
  };
  for (const unsigned gpu : files.gpus) add("/dev/nvidia" + std::to_string(gpu), *driver, gpu);
  add("/dev/nvidiactl", *driver, kControlMinor);
  if (const auto modeset = MajorOf(files.devices, {"nvidia-modeset"}))
    add("/dev/nvidia-modeset", *modeset, kModesetMinor);
  const auto uvm = MajorOf(files.devices, {"nvidia-uvm"});
  if (uvm) {
    add("/dev/nvidia-uvm", *uvm, 0);
    add("/dev/nvidia-uvm-tools", *uvm, 1);
  }
  plan.note = NoteFor(plan.nodes, uvm || files.existing.contains("/dev/nvidia-uvm"));
  if (Param(files.params, "ModifyDeviceFiles", 1) == 0) plan.nodes.clear();
  plan.owner = {.uid = Param(files.params, "DeviceFileUID", 0),
                .gid = Param(files.params, "DeviceFileGID", 0),
                .mode = Param(files.params, "DeviceFileMode", 0666)};
  return plan;
}

}  // namespace trainyard::placement
