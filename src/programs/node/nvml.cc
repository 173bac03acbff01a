#include "programs/node/nvml.h"

#include <array>

#include "programs/node/nvml_library.h"

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

}  // namespace

Result<std::vector<NvmlGpu>> AskNvml(const std::string& library) {
  TY_TRY(const NvmlLibrary loaded, NvmlLibrary::Open(library));
  TY_TRY(const Calls calls, FindAll(loaded));
  TY_RETURN_IF_ERROR(Check(calls, calls.init(), "nvmlInit"));
  Result<std::vector<NvmlGpu>> gpus = AskGpus(calls);
  calls.shutdown();
  return gpus;
}

}  // namespace trainyard::node
