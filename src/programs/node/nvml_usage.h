#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard::node {

// The part of NVML's binary interface that is used here; it is stable since driver 450. Source: NVML API
// reference.

using NvmlReturn = int;
inline constexpr NvmlReturn kNvmlSuccess = 0;
/// NVML_DEVICE_NAME_V2_BUFFER_SIZE, and above that of UUIDs (96).
inline constexpr std::size_t kNvmlTextBytes = 128;
using NvmlDevice = struct nvmlDevice_st*;

struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

/// The loaded library; the destructor unloads it. One thread at a time.
class NvmlLibrary {
 public:
  /// @param library  a path or a name for dlopen. kNotFound: there is no such library.
  [[nodiscard]] static Result<NvmlLibrary> Open(const std::string& library) {
    NvmlLibrary opened(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!opened.library_) return std::unexpected(NotFound(::dlerror()));
    return opened;
  }

  /// kUnavailable: the library has no such function.
  template <class Function>
  [[nodiscard]] Status Find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(::dlsym(library_.get(), name));
    if (function != nullptr) return {};
    return std::unexpected(Unavailable(std::string("the library has no ") + name));
  }

 private:
  struct Close {
    void operator()(void* library) const { ::dlclose(library); }
  };
  explicit NvmlLibrary(void* library) : library_(library) {}

  std::unique_ptr<void, Close> library_;
};

/// The utilization and memory use of a GPU.
struct GpuUsage {
  std::string id;          ///< as the caller named it
  double utilization = 0;  ///< share of the last moments in which a kernel ran, 0 to 1; 0 if NVML cannot tell
  std::int64_t memory_bytes = 0;
  std::int64_t memory_total_bytes = 0;
  friend bool operator==(const GpuUsage&, const GpuUsage&) = default;
};

/// Queries these GPUs, named as in CUDA_VISIBLE_DEVICES: by UUID or by index. A GPU that does not answer is
/// left out. Loads the library and unloads it. Blocks, for seconds if the driver has to wake up. Errors as
/// AskNvml.
[[nodiscard]] Result<std::vector<GpuUsage>> AskNvmlUsage(const std::string& library,
                                                         const std::vector<std::string>& ids);

}  // namespace trainyard::node
