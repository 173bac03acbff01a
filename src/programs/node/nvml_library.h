#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>

#include "base/result.h"

/// The part of NVML's binary interface that is used here; it is stable since driver 450. Source: NVML API
/// reference.
namespace trainyard::node {

using NvmlReturn = int;
inline constexpr NvmlReturn kNvmlSuccess = 0;
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

}  // namespace trainyard::node
