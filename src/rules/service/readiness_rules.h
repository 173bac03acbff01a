#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "rules/retention/disk_marks.h"
#include "trainyard/control/v1/admin.pb.h"

/// Decides whether a server can accept jobs. Pure: any thread. Source: docs/adr/0044-operating.md.
namespace trainyard::service {

/// The maximum delay of the loop within the last kLatenessMemory: clients give up beyond it.
inline constexpr std::chrono::milliseconds kLatenessMax{5'000};

struct ReadinessFacts {
  bool recovered = false;  ///< the state of the previous server was recovered
  retention::DiskReading disk{};
  retention::DiskMarks marks{};
  retention::DiskLevel disk_level = retention::DiskLevel::kEnough;
  Status stored{};  ///< the result of a test write to the jobs' database
  std::chrono::milliseconds lateness{0};
  bool draining = false;
  std::chrono::nanoseconds clock_ahead{0};  ///< because of unconfirmed jumps
};

/// The facts for callers without a login: without paths and reasons of this machine, which `trainyard admin
/// status` shows.
[[nodiscard]] ReadinessFacts ForEverybody(ReadinessFacts facts);

/// One row per check. A draining server is ready: it accepts jobs, and tells that they wait.
[[nodiscard]] control::v1::Readiness Judge(const ReadinessFacts& facts);

}  // namespace trainyard::service
