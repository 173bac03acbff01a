#include "programs/sandbox/namespaces/device_files.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/async/file.h"
#include "programs/node/inventory.h"
#include "rules/container/cdi.h"

namespace trainyard::replica {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGpuKind = "nvidia.com/gpu";
/// The directory of the driver's files in a container without a CDI file: images for GPUs search it.
constexpr const char* kLibraryFolder = "/usr/local/nvidia/lib64";
constexpr const char* kTool = "/usr/bin/nvidia-smi";
constexpr std::array<std::string_view, 4> kLibraries = {"libcuda.so", "libcudadebugger.so", "libnvidia-",
                                                        "libnvcuvid.so"};

/// The device file as it is on this machine; empty if there is none.
std::optional<container::DeviceNode> NodeOf(const std::string& path, const std::string& host_path) {
  struct stat found{};
  if (stat(host_path.c_str(), &found) != 0 || !(S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode)))
    return std::nullopt;
  return container::DeviceNode{.path = path,
                               .type = S_ISCHR(found.st_mode) ? 'c' : 'b',
                               .major = static_cast<std::int64_t>(major(found.st_rdev)),
                               .minor = static_cast<std::int64_t>(minor(found.st_rdev))};
}

void AddNode(const std::string& path, const std::string& host_path, DeviceFiles& files) {
  const auto node = NodeOf(path, host_path);
  if (node && std::ranges::find(files.nodes, *node) == files.nodes.end()) files.nodes.push_back(*node);
}

/// The replica's device files: those of the manifest, or for declared accelerators all that belong to no
/// other replica.
std::vector<std::string> OwnFiles(const v1::Devices& devices) {
  std::vector<std::string> own(devices.device_files().begin(), devices.device_files().end());
  const std::vector<std::string> forbidden = ForbiddenDevices(devices);
  for (const std::string& file : node::AcceleratorFiles()) {
    if (std::ranges::find(forbidden, file) == forbidden.end() && std::ranges::find(own, file) == own.end())
      own.push_back(file);
  }
  return own;
}

std::vector<container::CdiSpec> ReadCdiFiles(const DevicePlaces& places, std::string& note) {
  std::vector<container::CdiSpec> specs;
  for (const std::string& folder : places.cdi_folders) {
    for (const fs::path& entry : PathsIn(folder)) {
      const std::string kind = entry.extension();
      if (kind != ".json" && kind != ".yaml") continue;
      const auto text = ReadFile(entry);
      auto spec =
          text ? container::ParseCdi(*text) : Result<container::CdiSpec>(std::unexpected(text.error()));
      if (!spec) {
        note = "The file " + entry.string() + " cannot be used: " + spec.error().message + ".";
      } else if (spec->kind == kGpuKind) {
        specs.push_back(*std::move(spec));
      }
    }
  }
  return specs;
}

void AddEdits(const container::CdiEdits& edits, DeviceFiles& files) {
  for (const auto& node : edits.nodes) AddNode(node.path, node.host_path, files);
  files.binds = edits.binds;
  files.hooks = edits.hooks;
  files.environment = edits.environment;
  for (const std::string& name : edits.left_out)
    files.note += (files.note.empty() ? "" : " ") + ("The CDI file's " + name + " is not used.");
}

/// The ways to name the replica's GPUs to a CDI file: by the ids of the manifest, or by their device files. A
/// part of a GPU has the whole GPU's file, too, so it is found by its id only. On WSL a file has one entry,
/// for all GPUs.
std::vector<std::vector<std::string>> CdiNames(const v1::Devices& devices, bool is_wsl) {
  std::vector<std::string> files;
  std::ranges::copy_if(devices.device_files(), std::back_inserter(files), IsGpuFile);
  const std::vector<std::string> ids(devices.gpus().begin(), devices.gpus().end());
  const bool has_parts =
      std::ranges::any_of(ids, [](const std::string& id) { return id.starts_with("MIG-"); });
  std::vector<std::vector<std::string>> ways = {ids};
  if (!has_parts) ways.push_back(std::move(files));
  if (is_wsl) ways.push_back({"all"});
  std::erase_if(ways, [](const auto& names) { return names.empty(); });
  return ways;
}

/// Uses the CDI file's entries for the replica's GPUs; false: there are none.
bool UseCdi(const v1::Devices& devices, const DevicePlaces& places, bool is_wsl, DeviceFiles& files) {
  const std::vector<container::CdiSpec> specs = ReadCdiFiles(places, files.note);
  for (const container::CdiSpec& spec : specs) {
    for (const std::vector<std::string>& way : CdiNames(devices, is_wsl)) {
      const auto names = NamesOf(spec, way);
      const auto edits = names ? EditsFor(spec, *names) : std::unexpected(names.error());
      if (!edits) continue;
      for (const std::string& name : *names) files.cdi_names.push_back(std::string(kGpuKind) + "=" + name);
      AddEdits(*edits, files);
      return true;
    }
  }
  if (!specs.empty()) {
    files.note =
        "No CDI file of this machine describes the replica's GPUs, so their device files are used: run "
        "'nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml' again.";
  }
  return false;
}

bool IsDriverLibrary(const std::string& name) {
  return name.find(".so") != std::string::npos &&
         std::ranges::any_of(kLibraries, [&](std::string_view start) { return name.starts_with(start); });
}

/// Adds the driver's libraries of this machine, each under every name that it has.
void AddDriver(const DevicePlaces& places, DeviceFiles& files) {
  std::vector<std::string> names;
  for (const std::string& folder : places.library_folders) {
    for (const fs::path& entry : PathsIn(folder)) {
      const std::string name = entry.filename();
      if (!IsDriverLibrary(name) || std::ranges::find(names, name) != names.end()) continue;
      std::error_code dangling;
      if (!fs::is_regular_file(entry, dangling)) continue;
      names.push_back(name);
      files.binds.push_back({.source = RealPath(entry),
                             .destination = std::string(kLibraryFolder) + "/" + name,
                             .read_only = true});
    }
  }
  if (names.empty()) {
    files.note =
        "The libraries of this machine's GPU driver are not in the usual places: create a CDI file with "
        "'nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml'.";
    return;
  }
  files.environment.push_back("LD_LIBRARY_PATH=" + std::string(kLibraryFolder));
  std::error_code error;
  if (fs::exists(kTool, error)) files.binds.push_back({RealPath(kTool), kTool, true});
}

/// The driver of Windows: its libraries find each other below this directory only.
void AddWsl(const DevicePlaces& places, DeviceFiles& files) {
  AddNode(places.wsl_node, places.wsl_node, files);
  files.binds.push_back({places.wsl_folder, places.wsl_folder, true});
  files.environment.push_back("LD_LIBRARY_PATH=" + places.wsl_folder + "/lib");
}

}  // namespace

bool IsGpuFile(std::string_view file) { return file.starts_with("/dev/nvidia") || file == "/dev/dxg"; }

bool HasGpuFiles(const v1::Devices& devices) {
  return std::ranges::any_of(devices.device_files(), IsGpuFile);
}

DeviceFiles FindDeviceFiles(const v1::Devices& devices, const DevicePlaces& places) {
  DeviceFiles files;
  const bool has_gpus = devices.gpus_size() > 0 || HasGpuFiles(devices);
  if (!has_gpus && devices.tpu_node_name().empty() && devices.device_files().empty()) return files;
  std::error_code error;
  const bool is_wsl = has_gpus && fs::exists(places.wsl_node, error);
  const bool uses_cdi = has_gpus && UseCdi(devices, places, is_wsl, files);
  bool needs_vfio = false;
  for (const std::string& file : OwnFiles(devices)) {
    if (!uses_cdi || !IsGpuFile(file)) AddNode(file, file, files);
    needs_vfio = needs_vfio || file.starts_with("/dev/vfio/");
  }
  if (needs_vfio) AddNode("/dev/vfio/vfio", "/dev/vfio/vfio", files);
  if (!has_gpus || uses_cdi) return files;
  files.has_other_gpus = !HasGpuFiles(devices);
  if (is_wsl) {
    AddWsl(places, files);
    return files;
  }
  for (const std::string& node : places.shared_nodes) AddNode(node, node, files);
  if (!files.nodes.empty()) AddDriver(places, files);
  return files;
}

std::vector<std::string> ForbiddenDevices(const v1::Devices& own) {
  const bool has_gpu_files = HasGpuFiles(own);
  const bool has_tpu_files = std::ranges::any_of(own.device_files(), std::not_fn(IsGpuFile));
  std::vector<std::string> forbidden;
  for (const std::string& file : node::AcceleratorFiles()) {
    const bool is_gpu = IsGpuFile(file);
    const bool declared =
        is_gpu ? !own.gpus().empty() && !has_gpu_files : !own.tpu_node_name().empty() && !has_tpu_files;
    if (!declared && std::ranges::find(own.device_files(), file) == own.device_files().end())
      forbidden.push_back(file);
  }
  return forbidden;
}

int CpuCount() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? std::max(1, CPU_COUNT(&cpus)) : 1;
}

}  // namespace trainyard::replica
