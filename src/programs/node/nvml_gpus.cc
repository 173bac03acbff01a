#include "programs/node/nvml_gpus.h"

#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "programs/node/nvml_usage.h"

namespace trainyard::node {
namespace {

constexpr NvmlReturn kNotSupported = 3;

struct GpuCalls {
  NvmlReturn (*init)();
  NvmlReturn (*shutdown)();
  const char* (*error_text)(NvmlReturn);
  NvmlReturn (*count)(unsigned*);
  NvmlReturn (*handle)(unsigned, NvmlDevice*);
  NvmlReturn (*name)(NvmlDevice, char*, unsigned);
  NvmlReturn (*uuid)(NvmlDevice, char*, unsigned);
  NvmlReturn (*minor_number)(NvmlDevice, unsigned*);
  NvmlReturn (*memory)(NvmlDevice, NvmlMemory*);
  NvmlReturn (*memory_errors)(NvmlDevice, int, int, unsigned long long*);  ///< may be null
};

Result<GpuCalls> FindGpuCalls(const NvmlLibrary& library) {
  GpuCalls calls{};
  TY_RETURN_IF_ERROR(library.Find("nvmlInit_v2", calls.init));
  TY_RETURN_IF_ERROR(library.Find("nvmlShutdown", calls.shutdown));
  TY_RETURN_IF_ERROR(library.Find("nvmlErrorString", calls.error_text));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetCount_v2", calls.count));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetHandleByIndex_v2", calls.handle));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetName", calls.name));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetUUID", calls.uuid));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetMinorNumber", calls.minor_number));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetMemoryInfo", calls.memory));
  std::ignore = library.Find("nvmlDeviceGetTotalEccErrors", calls.memory_errors);
  return calls;
}

/// Missing in libraries from before MIG (driver 450).
struct MigCalls {
  NvmlReturn (*mode)(NvmlDevice, unsigned* now, unsigned* after_reset);
  NvmlReturn (*count)(NvmlDevice, unsigned*);
  NvmlReturn (*handle)(NvmlDevice, unsigned, NvmlDevice*);
  NvmlReturn (*gpu_instance)(NvmlDevice, unsigned*);
  NvmlReturn (*compute_instance)(NvmlDevice, unsigned*);
};

std::optional<MigCalls> FindMig(const NvmlLibrary& library) {
  MigCalls calls{};
  const bool found = library.Find("nvmlDeviceGetMigMode", calls.mode) &&
                     library.Find("nvmlDeviceGetMaxMigDeviceCount", calls.count) &&
                     library.Find("nvmlDeviceGetMigDeviceHandleByIndex", calls.handle) &&
                     library.Find("nvmlDeviceGetGpuInstanceId", calls.gpu_instance) &&
                     library.Find("nvmlDeviceGetComputeInstanceId", calls.compute_instance);
  return found ? std::optional(calls) : std::nullopt;
}

struct Library {
  GpuCalls calls;
  std::optional<MigCalls> mig;
};

std::string Failure(const GpuCalls& calls, NvmlReturn code, const char* step) {
  const char* text = calls.error_text(code);
  return std::string(step) + ": " + (text != nullptr ? text : std::to_string(code).c_str());
}

Status Check(const GpuCalls& calls, NvmlReturn code, const char* step) {
  if (code == kNvmlSuccess) return {};
  return std::unexpected(Unavailable(Failure(calls, code, step)));
}

Result<std::string> AskUuid(const GpuCalls& calls, NvmlDevice device) {
  std::array<char, kNvmlTextBytes> text{};
  TY_RETURN_IF_ERROR(Check(calls, calls.uuid(device, text.data(), text.size()), "nvmlDeviceGetUUID"));
  return text.data();
}

/// A GPU without ECC does not count errors.
std::uint64_t MemoryErrors(const GpuCalls& calls, NvmlDevice device) {
  constexpr int kUncorrected = 1;
  constexpr int kSinceReset = 0;
  unsigned long long errors = 0;
  if (calls.memory_errors == nullptr) return 0;
  return calls.memory_errors(device, kUncorrected, kSinceReset, &errors) == kNvmlSuccess ? errors : 0;
}

/// Adds the name and the memory size; each may be unknown.
void AskMore(const GpuCalls& calls, NvmlDevice device, NvmlGpu& gpu, std::vector<std::string>& failures) {
  const auto note = [&](NvmlReturn code, const char* step) {
    if (code != kNvmlSuccess) failures.push_back(gpu.uuid + ": " + Failure(calls, code, step));
    return code == kNvmlSuccess;
  };
  std::array<char, kNvmlTextBytes> text{};
  if (note(calls.name(device, text.data(), text.size()), "nvmlDeviceGetName")) gpu.name = text.data();
  NvmlMemory memory{};
  if (note(calls.memory(device, &memory), "nvmlDeviceGetMemoryInfo")) gpu.memory_bytes = memory.total;
}

void AskMinor(const GpuCalls& calls, NvmlDevice device, NvmlGpu& gpu, std::vector<std::string>& failures) {
  unsigned minor = 0;
  const NvmlReturn code = calls.minor_number(device, &minor);
  if (code == kNvmlSuccess) {
    gpu.minor = minor;
  } else if (code != kNotSupported) {
    failures.push_back(gpu.uuid + ": " + Failure(calls, code, "nvmlDeviceGetMinorNumber"));
  }
}

bool HasMig(const Library& library, NvmlDevice device) {
  constexpr unsigned kEnabled = 1;
  unsigned now = 0;
  unsigned after_reset = 0;
  return library.mig && library.mig->mode(device, &now, &after_reset) == kNvmlSuccess && now == kEnabled;
}

/// Adds the MIG devices of the GPU in place of the GPU, which no program can use as a whole then.
void AskParts(const Library& library, NvmlDevice device, const NvmlGpu& board, NvmlAnswer& answer) {
  const MigCalls& mig = *library.mig;
  unsigned places = 0;
  mig.count(device, &places);
  const std::size_t before = answer.gpus.size();
  for (unsigned i = 0; i < places; ++i) {
    NvmlDevice part = nullptr;
    if (mig.handle(device, i, &part) != kNvmlSuccess) continue;  // no device has this place
    NvmlGpu found = board;
    auto uuid = AskUuid(library.calls, part);
    MigPart ids;
    if (!uuid || mig.gpu_instance(part, &ids.gpu_instance) != kNvmlSuccess ||
        mig.compute_instance(part, &ids.compute_instance) != kNvmlSuccess) {
      answer.failures.push_back("MIG device " + std::to_string(i) + " of " + board.uuid +
                                " is not used, because NVML does not identify it");
      continue;
    }
    found.uuid = *std::move(uuid);
    found.part = ids;
    AskMore(library.calls, part, found, answer.failures);
    answer.gpus.push_back(std::move(found));
  }
  if (answer.gpus.size() == before) {
    answer.failures.push_back(board.uuid +
                              " is not used: MIG is enabled and it has no MIG devices; make some "
                              "with nvidia-smi mig, or disable MIG");
  }
}

void AskGpu(const Library& library, unsigned index, NvmlAnswer& answer) {
  const GpuCalls& calls = library.calls;
  NvmlDevice device = nullptr;
  const Status handle = Check(calls, calls.handle(index, &device), "nvmlDeviceGetHandleByIndex");
  auto uuid = handle ? AskUuid(calls, device) : Result<std::string>(std::unexpected(handle.error()));
  if (!uuid) {
    answer.failures.push_back("GPU " + std::to_string(index) + " is not used (" + uuid.error().message + ")");
    return;
  }
  NvmlGpu gpu;
  gpu.board = gpu.uuid = *std::move(uuid);
  AskMore(calls, device, gpu, answer.failures);
  gpu.memory_errors = MemoryErrors(calls, device);
  AskMinor(calls, device, gpu, answer.failures);
  if (HasMig(library, device)) {
    AskParts(library, device, gpu, answer);
  } else {
    answer.gpus.push_back(std::move(gpu));
  }
}

Result<NvmlAnswer> AskGpus(const Library& library) {
  unsigned count = 0;
  TY_RETURN_IF_ERROR(Check(library.calls, library.calls.count(&count), "nvmlDeviceGetCount"));
  NvmlAnswer answer;
  for (unsigned i = 0; i < count; ++i) AskGpu(library, i, answer);
  return answer;
}

}  // namespace

Result<NvmlAnswer> AskNvml(const std::string& library) {
  TY_TRY(const NvmlLibrary loaded, NvmlLibrary::Open(library));
  TY_TRY(const GpuCalls calls, FindGpuCalls(loaded));
  TY_RETURN_IF_ERROR(Check(calls, calls.init(), "nvmlInit"));
  Result<NvmlAnswer> answer = AskGpus({.calls = calls, .mig = FindMig(loaded)});
  calls.shutdown();
  return answer;
}

}  // namespace trainyard::node
