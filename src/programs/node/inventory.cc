#include "programs/node/inventory.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/number.h"
#include "programs/node/nvml_usage.h"

namespace trainyard::node {

namespace {

constexpr std::size_t kTextBytes = 128;  ///< NVML_DEVICE_NAME_V2_BUFFER_SIZE and above that of UUIDs (96)

struct Calls {
  NvmlReturn (*init)();
  NvmlReturn (*shutdown)();
  const char* (*error_text)(NvmlReturn);
  NvmlReturn (*count)(unsigned*);
  NvmlReturn (*handle)(unsigned, NvmlDevice*);
  NvmlReturn (*name)(NvmlDevice, char*, unsigned);
  NvmlReturn (*uuid)(NvmlDevice, char*, unsigned);
  NvmlReturn (*minor)(NvmlDevice, unsigned*);
  NvmlReturn (*memory)(NvmlDevice, NvmlMemory*);
};

Result<Calls> FindAll(const NvmlLibrary& library) {
  Calls calls{};
  TY_RETURN_IF_ERROR(library.Find("nvmlInit_v2", calls.init));
  TY_RETURN_IF_ERROR(library.Find("nvmlShutdown", calls.shutdown));
  TY_RETURN_IF_ERROR(library.Find("nvmlErrorString", calls.error_text));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetCount_v2", calls.count));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetHandleByIndex_v2", calls.handle));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetName", calls.name));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetUUID", calls.uuid));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetMinorNumber", calls.minor));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetMemoryInfo", calls.memory));
  return calls;
}

Status Check(const Calls& calls, NvmlReturn code, const char* step) {
  if (code == kNvmlSuccess) return {};
  const char* text = calls.error_text(code);
  return std::unexpected(
      Unavailable(std::string(step) + ": " + (text != nullptr ? text : std::to_string(code).c_str())));
}

Result<NvmlGpu> AskGpu(const Calls& calls, unsigned index) {
  NvmlDevice device = nullptr;
  TY_RETURN_IF_ERROR(Check(calls, calls.handle(index, &device), "nvmlDeviceGetHandleByIndex"));
  NvmlGpu gpu;
  std::array<char, kTextBytes> text{};
  TY_RETURN_IF_ERROR(Check(calls, calls.name(device, text.data(), text.size()), "nvmlDeviceGetName"));
  gpu.name = text.data();
  TY_RETURN_IF_ERROR(Check(calls, calls.uuid(device, text.data(), text.size()), "nvmlDeviceGetUUID"));
  gpu.uuid = text.data();
  TY_RETURN_IF_ERROR(Check(calls, calls.minor(device, &gpu.minor), "nvmlDeviceGetMinorNumber"));
  NvmlMemory memory{};
  TY_RETURN_IF_ERROR(Check(calls, calls.memory(device, &memory), "nvmlDeviceGetMemoryInfo"));
  gpu.memory_bytes = memory.total;
  return gpu;
}

Result<std::vector<NvmlGpu>> AskGpus(const Calls& calls) {
  unsigned count = 0;
  TY_RETURN_IF_ERROR(Check(calls, calls.count(&count), "nvmlDeviceGetCount"));
  std::vector<NvmlGpu> gpus;
  for (unsigned i = 0; i < count; ++i) {
    TY_TRY(NvmlGpu gpu, AskGpu(calls, i));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

constexpr std::string_view kVendor = "nvidia";
constexpr std::string_view kOriginals[] = {"k80", "p4", "p100", "v100", "t4", "a100"};

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
          .files = {"/dev/nvidia" + std::to_string(minor)}};
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

void AddGpus(const Places& places, Inventory& inventory) {
  constexpr std::uint64_t kBytesPerGib = 1ULL << 30;
  if (const auto gpus = AskNvml(places.nvml)) {
    for (const NvmlGpu& gpu : *gpus) {
      inventory.devices.push_back(Gpu(GpuType(gpu.name), gpu.uuid, static_cast<int>(gpu.minor)));
      inventory.details.push_back(gpu.name + ", " + std::to_string(gpu.memory_bytes / kBytesPerGib) +
                                  " GiB, " + gpu.uuid + ", /dev/nvidia" + std::to_string(gpu.minor));
    }
    return;
  } else if (gpus.error().code != Code::kNotFound) {
    inventory.notes.push_back("NVML does not answer (" + gpus.error().message + ")");
  }
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

Result<std::vector<NvmlGpu>> AskNvml(const std::string& library) {
  TY_TRY(const NvmlLibrary loaded, NvmlLibrary::Open(library));
  TY_TRY(const Calls calls, FindAll(loaded));
  TY_RETURN_IF_ERROR(Check(calls, calls.init(), "nvmlInit"));
  Result<std::vector<NvmlGpu>> gpus = AskGpus(calls);
  calls.shutdown();
  return gpus;
}

std::string GpuType(std::string_view name) {
  const std::vector<std::string> words = Words(name);
  for (const std::string_view original : kOriginals) {
    for (const std::string& word : words) {
      if (word == original) return std::string("nvidia-tesla-").append(original);
    }
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
  std::vector<std::string> tpu_files = TpuFiles(places);
  if (!tpu_files.empty()) {
    inventory.details.push_back("TPU, " + std::to_string(tpu_files.size()) + " chips, from " +
                                tpu_files.front());
    inventory.devices.push_back(
        {.kind = placement::Device::Kind::kTpu, .type = "tpu", .id = "0", .files = std::move(tpu_files)});
  }
  return inventory;
}

std::vector<std::string> AcceleratorFiles(const Places& places) {
  std::vector<std::string> files;
  for (const int minor : Numbered(places.root + "/dev", "nvidia"))
    files.push_back("/dev/nvidia" + std::to_string(minor));
  for (std::string& file : TpuFiles(places)) files.push_back(std::move(file));
  return files;
}

}  // namespace trainyard::node
