#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::replica {

/// What all processes of a replica may use together; 0: no limit.
struct CgroupLimits {
  std::int64_t memory_bytes = 0;
  double cpus = 0;
  std::int64_t pids = 0;
  [[nodiscard]] bool any() const { return memory_bytes > 0 || cpus > 0 || pids > 0; }
};

/// Where the groups of attempts are made; what the server found (installation_group.h).
struct CgroupHome {
  int version = 0;    ///< 0: nowhere
  std::string group;  ///< version 2: the installation's; version 1: groups are below the process's own
};

/// A cgroup of a replica's own: bounds what all its processes use, and counts their memory. With version 2 it
/// is a group beside the supervisors' leaf; with version 1 (hybrid) one below the supervisor's group in each
/// hierarchy that is needed. The destructor removes it, which works once nothing runs in it. One thread.
class Cgroup {
 public:
  /// No cgroup.
  Cgroup() = default;
  /// Without limits only what the kernel does to it is counted. A controller that the machine does not have
  /// is left out (the server has said so); an error is one that it has and that refuses.
  [[nodiscard]] static Result<Cgroup> Create(const CgroupHome& home, const std::string& name,
                                             const CgroupLimits& limits);
  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&& other) noexcept;
  ~Cgroup() { Remove(); }

  /// Directory of the group that counts memory; empty where there is no cgroup.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// All its directories, one to a line: to clean up.
  [[nodiscard]] std::string Note() const;
  /// Version 1: a process joins by writing "0" to each of them.
  [[nodiscard]] std::vector<int> ProcsFds() const;
  /// Version 2: its directory, to start a process in it (CLONE_INTO_CGROUP); -1: version 1, or none.
  [[nodiscard]] int directory() const noexcept { return directory_.get(); }
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
  /// Whether the kernel counts memory, and kills for it, in it.
  [[nodiscard]] bool counts_memory() const noexcept { return counts_memory_; }
  /// Its processes were in it from their first page on; otherwise what they had before is not charged to it.
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

/// Removes a cgroup that a killed supervisor left behind, by its note. A cgroup that is in use stays.
void RemoveCgroup(const std::string& note) noexcept;

/// Processes that the kernel has killed for lack of memory in the group that this process is in, whoever made
/// it: a cluster, a container. Nothing: the kernel does not tell. Any thread.
[[nodiscard]] std::optional<std::int64_t> EnclosingOomKills();

}  // namespace trainyard::replica
