#include "programs/node/nvml_usage.h"

#include <optional>

#include "base/number.h"

namespace trainyard::node {
namespace {

struct NvmlUtilization {
  unsigned gpu;  ///< percent
  unsigned memory;
};

struct UsageCalls {
  NvmlReturn (*init)() = nullptr;
  NvmlReturn (*shutdown)() = nullptr;
  NvmlReturn (*by_index)(unsigned, NvmlDevice*) = nullptr;
  NvmlReturn (*by_uuid)(const char*, NvmlDevice*) = nullptr;
  NvmlReturn (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  NvmlReturn (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
};

Result<UsageCalls> FindUsageCalls(const NvmlLibrary& library) {
  UsageCalls calls;
  TY_RETURN_IF_ERROR(library.Find("nvmlInit_v2", calls.init));
  TY_RETURN_IF_ERROR(library.Find("nvmlShutdown", calls.shutdown));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetHandleByIndex_v2", calls.by_index));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetHandleByUUID", calls.by_uuid));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetUtilizationRates", calls.utilization));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetMemoryInfo", calls.memory));
  return calls;
}

std::optional<NvmlDevice> FindDevice(const UsageCalls& calls, const std::string& id) {
  NvmlDevice device = nullptr;
  const auto index = WholeNumber<unsigned>(id);
  const NvmlReturn code = index ? calls.by_index(*index, &device) : calls.by_uuid(id.c_str(), &device);
  if (code != kNvmlSuccess) return std::nullopt;
  return device;
}

std::optional<GpuUsage> AskGpu(const UsageCalls& calls, const std::string& id) {
  const auto device = FindDevice(calls, id);
  NvmlMemory memory{};
  if (!device || calls.memory(*device, &memory) != kNvmlSuccess) return std::nullopt;
  NvmlUtilization utilization{};
  constexpr double kPercent = 100;
  if (calls.utilization(*device, &utilization) != kNvmlSuccess)
    utilization.gpu = 0;  // parts of a GPU (MIG) report none
  return GpuUsage{.id = id,
                  .utilization = utilization.gpu / kPercent,
                  .memory_bytes = static_cast<std::int64_t>(memory.used),
                  .memory_total_bytes = static_cast<std::int64_t>(memory.total)};
}

}  // namespace

Result<std::vector<GpuUsage>> AskNvmlUsage(const std::string& library, const std::vector<std::string>& ids) {
  TY_TRY(const NvmlLibrary loaded, NvmlLibrary::Open(library));
  TY_TRY(const UsageCalls calls, FindUsageCalls(loaded));
  if (const NvmlReturn code = calls.init(); code != kNvmlSuccess)
    return std::unexpected(Unavailable("nvmlInit: error " + std::to_string(code)));
  std::vector<GpuUsage> gpus;
  for (const std::string& id : ids) {
    if (auto gpu = AskGpu(calls, id)) gpus.push_back(*std::move(gpu));
  }
  calls.shutdown();
  return gpus;
}

}  // namespace trainyard::node
