#include "node/nvml_usage.h"

#include <dlfcn.h>

#include <charconv>
#include <memory>
#include <optional>

namespace trainyard::node {
namespace {

// NVML's binary interface, as far as it is used here; stable since driver 450.
using NvmlReturn = int;
constexpr NvmlReturn kSuccess = 0;
using NvmlDevice = struct nvmlDevice_st*;
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct NvmlUtilization {
  unsigned gpu;  ///< percent
  unsigned memory;
};

struct Close {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, Close>;

struct Calls {
  NvmlReturn (*init)() = nullptr;
  NvmlReturn (*shutdown)() = nullptr;
  NvmlReturn (*by_index)(unsigned, NvmlDevice*) = nullptr;
  NvmlReturn (*by_uuid)(const char*, NvmlDevice*) = nullptr;
  NvmlReturn (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  NvmlReturn (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
};

template <class Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<Calls> FindAll(void* library) {
  Calls calls;
  const bool found = Find(library, "nvmlInit_v2", calls.init) &&
                     Find(library, "nvmlShutdown", calls.shutdown) &&
                     Find(library, "nvmlDeviceGetHandleByIndex_v2", calls.by_index) &&
                     Find(library, "nvmlDeviceGetHandleByUUID", calls.by_uuid) &&
                     Find(library, "nvmlDeviceGetUtilizationRates", calls.utilization) &&
                     Find(library, "nvmlDeviceGetMemoryInfo", calls.memory);
  if (!found) return std::nullopt;
  return calls;
}

std::optional<NvmlDevice> FindDevice(const Calls& calls, const std::string& id) {
  NvmlDevice device = nullptr;
  unsigned index = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), index);
  const bool is_index = error == std::errc() && end == id.data() + id.size();
  const NvmlReturn code = is_index ? calls.by_index(index, &device) : calls.by_uuid(id.c_str(), &device);
  if (code != kSuccess) return std::nullopt;
  return device;
}

std::optional<GpuUsage> AskGpu(const Calls& calls, const std::string& id) {
  const auto device = FindDevice(calls, id);
  NvmlMemory memory{};
  if (!device || calls.memory(*device, &memory) != kSuccess) return std::nullopt;
  NvmlUtilization utilization{};
  constexpr double kPercent = 100;
  if (calls.utilization(*device, &utilization) != kSuccess)
    utilization.gpu = 0;  // parts of a GPU (MIG) report none
  return GpuUsage{.id = id,
                  .utilization = utilization.gpu / kPercent,
                  .memory_bytes = static_cast<std::int64_t>(memory.used),
                  .memory_total_bytes = static_cast<std::int64_t>(memory.total)};
}

}  // namespace

Result<std::vector<GpuUsage>> AskNvmlUsage(const std::string& library, const std::vector<std::string>& ids) {
  const Library loaded(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!loaded) return std::unexpected(NotFound(dlerror()));
  const std::optional<Calls> calls = FindAll(loaded.get());
  if (!calls) return std::unexpected(Unavailable("the library lacks a function"));
  if (const NvmlReturn code = calls->init(); code != kSuccess)
    return std::unexpected(Unavailable("nvmlInit: error " + std::to_string(code)));
  std::vector<GpuUsage> gpus;
  for (const std::string& id : ids) {
    if (auto gpu = AskGpu(*calls, id)) gpus.push_back(*std::move(gpu));
  }
  calls->shutdown();
  return gpus;
}

}  // namespace trainyard::node
