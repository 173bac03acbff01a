#include "node/nvml.h"

#include <dlfcn.h>

#include <array>
#include <memory>

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
constexpr std::size_t kTextBytes = 128;  ///< NVML_DEVICE_NAME_V2_BUFFER_SIZE and above that of UUIDs (96)

struct Close {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, Close>;

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

template <class Function>
Status Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function != nullptr) return {};
  return std::unexpected(Unavailable(std::string("the library has no ") + name));
}

Result<Calls> FindAll(void* library) {
  Calls calls{};
  TY_RETURN_IF_ERROR(Find(library, "nvmlInit_v2", calls.init));
  TY_RETURN_IF_ERROR(Find(library, "nvmlShutdown", calls.shutdown));
  TY_RETURN_IF_ERROR(Find(library, "nvmlErrorString", calls.error_text));
  TY_RETURN_IF_ERROR(Find(library, "nvmlDeviceGetCount_v2", calls.count));
  TY_RETURN_IF_ERROR(Find(library, "nvmlDeviceGetHandleByIndex_v2", calls.handle));
  TY_RETURN_IF_ERROR(Find(library, "nvmlDeviceGetName", calls.name));
  TY_RETURN_IF_ERROR(Find(library, "nvmlDeviceGetUUID", calls.uuid));
  TY_RETURN_IF_ERROR(Find(library, "nvmlDeviceGetMinorNumber", calls.minor));
  TY_RETURN_IF_ERROR(Find(library, "nvmlDeviceGetMemoryInfo", calls.memory));
  return calls;
}

Status Check(const Calls& calls, NvmlReturn code, const char* step) {
  if (code == kSuccess) return {};
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
  Library loaded(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!loaded) return std::unexpected(NotFound(dlerror()));
  TY_TRY(Calls calls, FindAll(loaded.get()));
  TY_RETURN_IF_ERROR(Check(calls, calls.init(), "nvmlInit"));
  Result<std::vector<NvmlGpu>> gpus = AskGpus(calls);
  calls.shutdown();
  return gpus;
}

}  // namespace trainyard::node
