#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "rules/retention/disk_marks.h"
#include "trainyard/control/v1/admin.pb.h"

/// When a server can take jobs. Pure: any thread. Source: docs/adr/0044-operating.md.
namespace trainyard::service {

/// How late the loop may have been within the last kLatenessMemory: clients give up beyond it.
inline constexpr std::chrono::milliseconds kLatenessMax{5'000};

struct ReadinessFacts {
  bool recovered = false;  ///< what the previous server left is taken over
  retention::DiskReading disk{};
  retention::DiskMarks marks{};
  retention::DiskLevel disk_level = retention::DiskLevel::kEnough;
  Status stored{};  ///< a write to the jobs' database, just now
  std::chrono::milliseconds lateness{0};
  bool draining = false;
  std::chrono::nanoseconds clock_ahead{0};  ///< by jumps that nobody has confirmed
};

/// The same for those whom nobody has asked who they are: without the places and the reasons of this machine,
/// which `trainyard admin status` shows.
[[nodiscard]] ReadinessFacts ForEverybody(ReadinessFacts facts);

/// One row per check. A server that drains is ready: it accepts jobs, and says that they wait.
[[nodiscard]] control::v1::Readiness Judge(const ReadinessFacts& facts);

}  // namespace trainyard::service
