#include "programs/node/inventory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "base/number.h"
#include "programs/node/nvml_gpus.h"
#include "rules/placement/device_nodes.h"

namespace trainyard::node {

namespace {

constexpr std::string_view kVendor = "nvidia";
constexpr std::string_view kOriginals[] = {"k80", "p4", "p100", "v100", "t4", "a100"};

/// A type of Vertex AI that the driver's name does not spell, and the words of that name.
struct NamedType {
  std::string_view type;
  std::array<std::string_view, 3> words;  ///< all of them; the rest are empty
};
constexpr NamedType kNamedTypes[] = {
    {"nvidia-a100-80gb", {"a100", "80gb"}},           // "NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe"
    {"nvidia-h100-80gb", {"h100", "80gb"}},           // "NVIDIA H100 80GB HBM3"
    {"nvidia-h100-80gb", {"h100", "pcie"}},           // "NVIDIA H100 PCIe"
    {"nvidia-h200-141gb", {"h200"}},                  // "NVIDIA H200", "NVIDIA H200 NVL"
    {"nvidia-rtx-pro-6000", {"rtx", "pro", "6000"}},  // "NVIDIA RTX PRO 6000 Blackwell Server Edition"
};

/// Lower-case runs of letters and digits.
std::vector<std::string> Words(std::string_view name) {
  std::vector<std::string> words(1);
  for (char byte : name) {
    const bool upper = byte >= 'A' && byte <= 'Z';
    const char lower = upper ? static_cast<char>(byte - 'A' + 'a') : byte;
    if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9')) {
      words.back() += lower;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

namespace fs = std::filesystem;

constexpr std::string_view kCapabilities = "/dev/nvidia-caps";
constexpr std::string_view kGpuFile = "/dev/nvidia";
constexpr std::string_view kGoogleVendor = "0x1ae0";

std::vector<std::string> Names(const std::string& folder) {
  std::vector<std::string> names;
  for (const fs::path& entry : PathsIn(folder)) names.push_back(entry.filename());
  std::ranges::sort(names);
  return names;
}

/// Numbers N of the files PREFIXN in a folder, ascending.
std::vector<int> Numbered(const std::string& folder, std::string_view prefix) {
  std::vector<int> numbers;
  for (const std::string& name : Names(folder)) {
    if (!name.starts_with(prefix)) continue;
    if (const auto number = WholeNumber<int>(std::string_view(name).substr(prefix.size())))
      numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::string FirstLine(const std::string& path) {
  const auto text = ReadFile(path);
  return text ? text->substr(0, text->find('\n')) : "";
}

/// The value after "NAME:" in the driver's text.
std::string Value(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    return std::string(line);
  }
  return "";
}

placement::Device Gpu(std::string type, std::string id, int minor) {
  return {.kind = placement::Device::Kind::kGpu,
          .type = std::move(type),
          .id = std::move(id),
          .files = {std::string(kGpuFile) + std::to_string(minor)}};
}

/// A driver that has not initialised the GPU yet prints question marks for its UUID; then its index in the
/// order of the bus is used.
std::vector<placement::Device> GpusOfDriver(const Places& places) {
  std::vector<placement::Device> gpus;
  const std::string folder = places.root + "/proc/driver/nvidia/gpus";
  for (const std::string& bus_id : Names(folder)) {
    const auto text = ReadFile(folder + "/" + bus_id + "/information");
    const auto minor = WholeNumber<int>(text ? Value(*text, "Device Minor") : "");
    if (!minor) continue;
    std::string id = Value(*text, "GPU UUID");
    if (!id.starts_with("GPU-") || id.find('?') != std::string::npos) id = std::to_string(gpus.size());
    gpus.push_back(Gpu(GpuType(Value(*text, "Model")), std::move(id), *minor));
  }
  return gpus;
}

std::vector<placement::Device> GpusOfFiles(const Places& places) {
  std::vector<placement::Device> gpus;
  for (const int minor : Numbered(places.root + "/dev", "nvidia"))
    gpus.push_back(Gpu(GpuType(""), std::to_string(gpus.size()), minor));
  return gpus;
}

/// The number in a file below /proc/driver/nvidia/capabilities, of the device file that grants the right.
/// Source: NVIDIA's MIG user guide, "Device Nodes and Capabilities".
std::optional<std::string> CapabilityFile(const std::string& folder) {
  const auto text = ReadFile(folder + "/access");
  const auto minor = WholeNumber<int>(text ? Value(*text, "DeviceFileMinor") : "");
  if (!minor) return std::nullopt;
  return std::string(kCapabilities) + "/nvidia-cap" + std::to_string(*minor);
}

/// The files of a MIG device: first its own, then those that it shares with other parts of the GPU.
std::optional<std::vector<std::string>> FilesOfPart(const Places& places, unsigned gpu, const MigPart& part) {
  const std::string instance = places.root + "/proc/driver/nvidia/capabilities/gpu" + std::to_string(gpu) +
                               "/mig/gi" + std::to_string(part.gpu_instance);
  auto of_part = CapabilityFile(instance + "/ci" + std::to_string(part.compute_instance));
  auto of_instance = CapabilityFile(instance);
  if (!of_part || !of_instance) return std::nullopt;
  return std::vector{*std::move(of_part), *std::move(of_instance),
                     std::string(kGpuFile) + std::to_string(gpu)};
}

/// The files of a GPU that NVML lists; nothing if one is not known, since its jobs could open others' then.
/// On WSL no GPU has a file of its own: all are behind /dev/dxg.
std::optional<std::vector<std::string>> FilesOf(const Places& places, const NvmlGpu& gpu,
                                                const std::vector<placement::Device>& of_driver) {
  if (gpu.minor && gpu.part) return FilesOfPart(places, *gpu.minor, *gpu.part);
  if (gpu.minor) return std::vector{std::string(kGpuFile) + std::to_string(*gpu.minor)};
  if (fs::exists(places.root + "/dev/dxg")) return std::vector<std::string>();
  const auto known = std::ranges::find(of_driver, gpu.uuid, &placement::Device::id);
  return known == of_driver.end() ? std::nullopt : std::optional(known->files);
}

std::string DetailOf(const NvmlGpu& gpu, const std::vector<std::string>& files) {
  constexpr std::uint64_t kBytesPerGib = 1ULL << 30;
  std::string detail = gpu.name.empty() ? "GPU of an unknown type" : gpu.name;
  if (gpu.memory_bytes) detail += ", " + std::to_string(*gpu.memory_bytes / kBytesPerGib) + " GiB";
  return detail + ", " + gpu.uuid + ", " + (files.empty() ? "/dev/dxg" : files.front());
}

void AddAnswer(const Places& places, NvmlAnswer answer, Inventory& inventory) {
  const std::vector<placement::Device> of_driver = GpusOfDriver(places);
  for (const NvmlGpu& gpu : answer.gpus) {
    auto files = FilesOf(places, gpu, of_driver);
    if (!files) {
      answer.failures.push_back(gpu.uuid + " is not used, because its device files are not known");
      continue;
    }
    inventory.details.push_back(DetailOf(gpu, *files));
    inventory.signs[gpu.uuid] = {.uuid = gpu.board, .memory_errors = gpu.memory_errors};
    inventory.devices.push_back({.type = GpuType(gpu.name), .id = gpu.uuid, .files = *std::move(files)});
  }
  inventory.notes = std::move(answer.failures);
}

placement::NodePlan NodesFor(const Places& places) {
  placement::DriverFiles files;
  const std::string devices = ReadFile(places.root + "/proc/devices").value_or("");
  const std::string params = ReadFile(places.root + "/proc/driver/nvidia/params").value_or("");
  files.devices = devices;
  files.params = params;
  for (const placement::Device& gpu : GpusOfDriver(places)) {
    const std::string_view number = std::string_view(gpu.files.front()).substr(kGpuFile.size());
    files.gpus.push_back(WholeNumber<unsigned>(number).value_or(0));
  }
  for (const std::string& name : Names(places.root + "/dev")) files.existing.insert("/dev/" + name);
  return PlanNodes(files);
}

/// A container without GPUs sees the driver of its host below /proc, but may not open its files.
bool IsUseful(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  return file || errno != EPERM;
}

void AddGpus(const Places& places, Inventory& inventory) {
  auto answer = AskNvml(places.nvml);
  if (answer) return AddAnswer(places, *std::move(answer), inventory);
  if (answer.error().code != Code::kNotFound)
    inventory.notes.push_back("NVML does not answer (" + answer.error().message + ")");
  std::vector<placement::Device> found = GpusOfDriver(places);
  if (found.empty()) found = GpusOfFiles(places);
  for (placement::Device& gpu : found) {
    inventory.details.push_back(gpu.type + ", " + gpu.id + ", " + gpu.files.front());
    inventory.devices.push_back(std::move(gpu));
  }
}

/// /dev/accelN: TPU drivers made them before the kernel had a class for them, so one that sysfs does not
/// describe counts as a chip. /dev/vfio/N may be any device.
std::vector<std::string> TpuFiles(const Places& places) {
  std::vector<std::string> files;
  for (const int number : Numbered(places.root + "/dev", "accel")) {
    const std::string name = "accel" + std::to_string(number);
    const std::string vendor = FirstLine(places.root + "/sys/class/accel/" + name + "/device/vendor");
    if (vendor.empty() || vendor == kGoogleVendor) files.push_back("/dev/" + name);
  }
  for (const int number : Numbered(places.root + "/dev/vfio", "")) {
    const std::string group = places.root + "/sys/kernel/iommu_groups/" + std::to_string(number) + "/devices";
    const std::vector<std::string> members = Names(group);
    const bool is_tpu = std::ranges::any_of(members, [&group](const std::string& member) {
      return FirstLine(group + "/" + member + "/vendor") == kGoogleVendor;
    });
    if (is_tpu) files.push_back("/dev/vfio/" + std::to_string(number));
  }
  return files;
}

}  // namespace

std::string GpuType(std::string_view name) {
  const std::vector<std::string> words = Words(name);
  const auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  if (!has("mig")) {
    for (const NamedType& named : kNamedTypes)
      if (std::ranges::all_of(named.words, [&](std::string_view word) { return word.empty() || has(word); }))
        return std::string(named.type);
    for (const std::string_view original : kOriginals)
      if (has(original)) return std::string("nvidia-tesla-").append(original);
  }
  std::string type(kVendor);
  for (const std::string& word : words) {
    if (word != kVendor) type += "-" + word;
  }
  return type == kVendor ? type + "-gpu" : type;
}

Inventory FindDevices(const Places& places) {
  Inventory inventory;
  AddGpus(places, inventory);
  std::string missing = inventory.devices.empty() ? std::string() : NodesFor(places).note;
  if (!missing.empty()) inventory.notes.push_back(std::move(missing));
  std::vector<std::string> tpu_files = TpuFiles(places);
  if (!tpu_files.empty()) {
    inventory.details.push_back("TPU, " + std::to_string(tpu_files.size()) + " chips, from " +
                                tpu_files.front());
    inventory.devices.push_back(
        {.kind = placement::Device::Kind::kTpu, .type = "tpu", .id = "0", .files = std::move(tpu_files)});
  }
  return inventory;
}

std::vector<std::string> MakeDeviceNodes(const Places& places) {
  if (geteuid() != 0) return {};
  const placement::NodePlan plan = NodesFor(places);
  std::vector<std::string> made;
  for (const placement::MissingNode& node : plan.nodes) {
    const std::string path = places.root + node.path;
    if (mknod(path.c_str(), S_IFCHR | 0600, makedev(node.major, node.minor)) != 0) continue;
    // The owner before the mode, so that nobody else can open it in between; mknod's mode is subject to
    // umask.
    if (IsUseful(path) && chown(path.c_str(), plan.owner.uid, plan.owner.gid) == 0 &&
        chmod(path.c_str(), plan.owner.mode) == 0) {
      made.push_back(node.path);
    } else {
      unlink(path.c_str());
    }
  }
  return made;
}

std::vector<std::string> AcceleratorFiles(const Places& places) {
  std::vector<std::string> files;
  for (const int minor : Numbered(places.root + "/dev", "nvidia"))
    files.push_back("/dev/nvidia" + std::to_string(minor));
  const std::string capabilities(kCapabilities);
  for (const int minor : Numbered(places.root + capabilities, "nvidia-cap"))
    files.push_back(capabilities + "/nvidia-cap" + std::to_string(minor));
  if (fs::exists(places.root + "/dev/dxg")) files.emplace_back("/dev/dxg");
  for (std::string& file : TpuFiles(places)) files.push_back(std::move(file));
  return files;
}

}  // namespace trainyard::node
