#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "async/unique_fd.h"
#include "base/result.h"

namespace trainyard::replica {

/// A cgroup of a replica's own below the supervisor's: bounds and counts the memory of all its processes. The
/// destructor removes it, which works once nothing runs in it. One thread.
class Cgroup {
 public:
  /// No cgroup.
  Cgroup() = default;
  /// `memory_bytes`: the limit; 0: none, only out-of-memory kills are counted. An error says what this
  /// machine does not allow; it is no reason not to run.
  [[nodiscard]] static Result<Cgroup> Create(const std::string& name, std::int64_t memory_bytes);
  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&& other) noexcept;
  ~Cgroup() { Remove(); }

  /// Folder; empty where there is no cgroup.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// A process joins by writing "0" to it. -1 where there is no cgroup.
  [[nodiscard]] int procs_fd() const noexcept { return procs_.get(); }
  /// Moves a process into it; one that has ended is no error.
  void Join(pid_t pid) const noexcept;
  /// Processes in it that the kernel killed for want of memory.
  [[nodiscard]] std::int64_t OomKills() const;
  /// Processes in it; those of namespaces below by the pid that they have here.
  [[nodiscard]] std::vector<pid_t> Processes() const;
  /// Memory in use, without what the kernel could drop at once (unused file pages); 0: unknown.
  [[nodiscard]] std::int64_t MemoryBytes() const;
  /// The most memory that was charged to it, file pages included; 0: unknown (version 2 before Linux 5.19).
  [[nodiscard]] std::int64_t PeakMemoryBytes() const;
  /// Its processes were in it from their first page on; otherwise what they had before is not charged to it.
  [[nodiscard]] bool counts_all() const noexcept { return counts_all_; }
  void Remove() noexcept;

 private:
  std::string path_;
  int version_ = 0;
  bool counts_all_ = false;
  UniqueFd procs_;
};

/// Removes a cgroup that a killed supervisor left behind. A cgroup that is in use stays.
void RemoveCgroup(const std::string& path) noexcept;

}  // namespace trainyard::replica
