#pragma once

#include <sys/types.h>

#include <cstdint>

#include "programs/sandbox/cgroups/cgroup.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// What is to be measured. The cgroup may be none; then the supervisor's descendants are looked for.
struct UsageSource {
  const Cgroup& cgroup;
  pid_t init = -1;           ///< of the sandbox: what it waited for counts
  bool own_network = false;  ///< it has a network namespace of its own
  std::int64_t memory_limit_bytes = 0;
};

/// Measures what an attempt uses, a few small files of /proc at a time. CPU time, bytes of disks and memory's
/// peak never go back, although processes end. Does not measure GPUs. One thread.
class UsageMeter {
 public:
  UsageMeter();

  /// A sample without time.
  [[nodiscard]] v1::Usage Measure(const UsageSource& source);
  /// The most memory that any sample or the cgroup saw; 0: nothing was seen.
  [[nodiscard]] std::int64_t PeakMemory(const Cgroup& cgroup) const;

 private:
  double cpus_;
  double cpu_seconds_ = 0;
  std::int64_t disk_read_bytes_ = 0;
  std::int64_t disk_written_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
};

/// The process behind a pidfd; -1 once it is gone.
[[nodiscard]] pid_t PidOf(int pidfd);

}  // namespace trainyard::replica
