#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "trainyard/control/v1/admin.pb.h"

/// When a server can take jobs. Pure: any thread. Source: docs/adr/0044-operating.md.
namespace trainyard::server {

/// Below this a create may fail: the databases' logs, a layer's unpacking and a job's first files need it.
inline constexpr std::int64_t kFreeBytesMin = std::int64_t{256} << 20;
inline constexpr std::int64_t kFreeInodesMin = 1'000;
/// How late the loop may have been within the last kLatenessMemory: clients give up beyond it.
inline constexpr std::chrono::milliseconds kLatenessMax{5'000};

struct ReadinessFacts {
  bool recovered = false;  ///< what the previous server left is taken over
  std::string folder{};
  std::int64_t free_bytes = 0;
  std::int64_t free_inodes = -1;  ///< -1: the file system does not count them
  Status stored{};                ///< a write to the jobs' database, just now
  std::chrono::milliseconds lateness{0};
  bool draining = false;
};

/// One row per check. A server that drains is ready: it accepts jobs, and says that they wait.
[[nodiscard]] control::v1::Readiness Judge(const ReadinessFacts& facts);

}  // namespace trainyard::server
