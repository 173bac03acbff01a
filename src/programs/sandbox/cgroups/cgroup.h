#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::replica {

/// The place in the file system of a process's cgroup for one controller.
struct CgroupPlace {
  std::string path;  ///< directory of the cgroup; empty: there is none
  int version = 0;   ///< 1: the controller's own hierarchy; 2: the unified one
  bool operator==(const CgroupPlace&) const = default;
};

/// Finds a process's cgroup from its /proc/PID/cgroup and /proc/PID/mountinfo: in the controller's version 1
/// hierarchy if that is mounted, else in version 2. Pure: any thread. Source: cgroups(7), proc(5).
[[nodiscard]] CgroupPlace FindCgroup(std::string_view cgroup, std::string_view mountinfo,
                                     std::string_view controller = "memory");

/// Limits for all processes of a replica together; 0: no limit.
struct CgroupLimits {
  std::int64_t memory_bytes = 0;
  double cpus = 0;
  std::int64_t pids = 0;
  [[nodiscard]] bool any() const { return memory_bytes > 0 || cpus > 0 || pids > 0; }
};

/// The place in which cgroups of attempts are created, as the server found it (installation_group.h).
struct CgroupHome {
  int version = 0;    ///< 0: nowhere
  std::string group;  ///< version 2: the installation's; version 1: empty, groups are below the process's own
};

/// A cgroup for one replica: limits what all its processes use, and counts their memory. With version 2 it is
/// a sibling of the supervisors' leaf group; with version 1 (hybrid) it is a group below the supervisor's in
/// each hierarchy that is needed. The destructor removes it, which works once no process is in it. One
/// thread.
class Cgroup {
 public:
  /// No cgroup.
  Cgroup() = default;
  /// Creates the group. Without limits it only counts. A controller that the machine does not have is left
  /// out (the server has reported that); it is an error if an existing controller cannot be used.
  [[nodiscard]] static Result<Cgroup> Create(const CgroupHome& home, const std::string& name,
                                             const CgroupLimits& limits);
  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&& other) noexcept;
  ~Cgroup() { Remove(); }

  /// Directory of the group that counts memory; empty if there is no cgroup.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// All its directories, one per line, for cleaning up.
  [[nodiscard]] std::string Note() const;
  /// Version 1: descriptors; a process joins by writing "0" to each of them.
  [[nodiscard]] std::vector<int> ProcsFds() const;
  /// Version 2: a descriptor of its directory, to start a process in it (CLONE_INTO_CGROUP); -1: version 1,
  /// or none.
  [[nodiscard]] int directory() const noexcept { return directory_.get(); }
  /// Moves a process into it; one that has ended is no error.
  void Join(pid_t pid) const noexcept;
  /// How many processes in it the kernel killed for lack of memory.
  [[nodiscard]] std::int64_t OomKills() const;
  /// How often the kernel refused one more process in it; 0 without a limit of processes.
  [[nodiscard]] std::int64_t ProcessesRefused() const;
  /// The processes in it; those in child PID namespaces by the pid that they have here.
  [[nodiscard]] std::vector<pid_t> Processes() const;
  /// Memory in use, without memory that the kernel could drop at once (unused file pages); 0: unknown.
  [[nodiscard]] std::int64_t MemoryBytes() const;
  /// The most memory that was charged to it, file pages included; 0: unknown (version 2 before Linux 5.19).
  [[nodiscard]] std::int64_t PeakMemoryBytes() const;
  /// Whether the kernel counts memory in it, and kills processes that exceed the limit.
  [[nodiscard]] bool counts_memory() const noexcept { return counts_memory_; }
  /// Whether its processes were in it from their first page on; otherwise earlier memory is not charged to
  /// it.
  [[nodiscard]] bool counts_all() const noexcept { return counts_all_; }
  void Remove() noexcept;

 private:
  struct Group {
    std::string path;
    UniqueFd procs;
  };
  [[nodiscard]] Status AddGroup(const std::string& path);
  [[nodiscard]] Result<bool> AddGroupIfAllowed(const std::string& path);
  [[nodiscard]] static Result<Cgroup> CreateVersion1(const std::string& name, const CgroupLimits& limits);
  [[nodiscard]] static Result<Cgroup> CreateVersion2(const std::string& path, const CgroupLimits& limits);

  std::string path_;
  UniqueFd directory_;
  int version_ = 0;
  bool counts_memory_ = false;
  bool counts_all_ = false;
  std::vector<Group> groups_;  ///< the first is that of path_
};

/// Removes a cgroup that a killed supervisor left, by its note. A cgroup that is in use stays.
void RemoveCgroup(const std::string& note) noexcept;

/// The memory of groups that somebody else has made: a cluster, a container.
struct EnclosingMemory {
  std::int64_t oom_kills = 0;    ///< processes in the group that the kernel has killed for lack of memory
  std::int64_t limit_bytes = 0;  ///< the smallest limit of the group and of those around it; 0: none
  std::int64_t peak_bytes = 0;   ///< the most that was charged to the group with that limit; 0: unknown
  friend bool operator==(const EnclosingMemory&, const EnclosingMemory&) = default;
};
/// That of the group at the place, and of those around it. Empty: its kills are not known. Any thread.
[[nodiscard]] std::optional<EnclosingMemory> MemoryAt(const CgroupPlace& place);
/// That of the group of this process. Empty: not known. Any thread.
[[nodiscard]] std::optional<EnclosingMemory> MemoryAround();

}  // namespace trainyard::replica
