#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard::node {

/// The errors (Xid) that NVIDIA's driver reports about GPUs from Open on. NVML stays loaded, and the GPUs
/// awake, until the destructor. One thread at a time.
class NvmlEvents {
 public:
  /// Errors: as AskNvml; kUnavailable also if the driver reports errors of none of the GPUs (WSL).
  [[nodiscard]] static Result<NvmlEvents> Open(const std::string& library,
                                               const std::vector<std::string>& uuids);

  /// One sentence for each GPU whose errors the driver does not report.
  [[nodiscard]] const std::vector<std::string>& unreported() const { return unreported_; }

  /// The errors since the last call, by the GPU's UUID. Does not wait.
  [[nodiscard]] std::map<std::string, std::vector<std::uint64_t>> Take();

 private:
  struct Session;
  struct Close {
    void operator()(Session* session) const;
  };
  using Handle = std::unique_ptr<Session, Close>;
  NvmlEvents(Handle session, std::vector<std::string> unreported)
      : session_(std::move(session)), unreported_(std::move(unreported)) {}

  Handle session_;
  std::vector<std::string> unreported_;
};

}  // namespace trainyard::node
