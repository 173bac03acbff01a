#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "async/unique_fd.h"
#include "base/result.h"

namespace trainyard::replica {

/// What all processes of a replica may use together; 0: no limit.
struct CgroupLimits {
  std::int64_t memory_bytes = 0;
  double cpus = 0;
  std::int64_t pids = 0;
  [[nodiscard]] bool any() const { return memory_bytes > 0 || cpus > 0 || pids > 0; }
};

/// A cgroup of a replica's own below the supervisor's: bounds what all its processes use, and counts their
/// memory. Where controllers have hierarchies of their own (version 1, hybrid) it is one group in each that
/// is needed. The destructor removes it, which works once nothing runs in it. One thread.
class Cgroup {
 public:
  /// No cgroup.
  Cgroup() = default;
  /// Without limits only out-of-memory kills are counted. An error says what this machine does not allow; it
  /// is no reason not to run. `unlimited`: a line for each limit that this machine does not enforce.
  [[nodiscard]] static Result<Cgroup> Create(const std::string& name, const CgroupLimits& limits,
                                             std::vector<std::string>& unlimited);
  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&& other) noexcept;
  ~Cgroup() { Remove(); }

  /// Directory of the group that counts memory; empty where there is no cgroup.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// All its directories, one to a line: to clean up.
  [[nodiscard]] std::string Note() const;
  /// A process joins by writing "0" to each of them.
  [[nodiscard]] std::vector<int> ProcsFds() const;
  /// Moves a process into it; one that has ended is no error.
  void Join(pid_t pid) const noexcept;
  /// Processes in it that the kernel killed for lack of memory.
  [[nodiscard]] std::int64_t OomKills() const;
  /// How often the kernel refused one more process in it; 0 without a limit of processes.
  [[nodiscard]] std::int64_t ProcessesRefused() const;
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
  struct Group {
    std::string path;
    UniqueFd procs;
  };
  [[nodiscard]] Status AddGroup(const std::string& path);

  std::string path_;
  int version_ = 0;
  bool counts_all_ = false;
  std::vector<Group> groups_;  ///< the first is that of path_
};

/// Removes a cgroup that a killed supervisor left behind, by its note. A cgroup that is in use stays.
void RemoveCgroup(const std::string& note) noexcept;

}  // namespace trainyard::replica
