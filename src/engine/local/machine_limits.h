#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::replica {
struct LimitSupport;
}  // namespace trainyard::replica

namespace trainyard::engine {

/// What this machine can limit of a replica's use, and what a logout does to replicas.
struct MachineLimits {
  int cgroup_version = 0;  ///< 0: no groups for attempts
  std::string cgroup;      ///< version 2: the installation's group
  struct Limit {
    std::string what;  ///< "memory", "CPUs", "processes"
    bool works = false;
    friend bool operator==(const Limit&, const Limit&) = default;
  };
  std::vector<Limit> limits;
  std::string lacking;  ///< one sentence: what is not limited, why, what helps; empty: all is
  std::string logout;   ///< what a logout means for jobs; empty: no session is involved
  bool logout_ends_jobs = false;
};

/// Describes the limits that were tried out. `advice`: what helps; empty: nothing is known to help. The
/// result does not cover logout. Pure.
[[nodiscard]] MachineLimits DescribeLimits(const replica::LimitSupport& support, const std::string& advice);

/// One sentence: how much memory one replica may use on a shared machine with so much. Pure.
[[nodiscard]] std::string DescribeReplicaMemory(const MachineLimits& limits, std::int64_t machine_bytes);

/// Finds or creates the place for the cgroups of the installation's attempts. With version 2 this process
/// moves into the installation's scope, which systemd is asked to make, or, without systemd, into a leaf of
/// its own group. Blocks for up to some seconds; call it before there are threads. docs/adr/0029.
[[nodiscard]] MachineLimits PrepareLimits(const std::string& attempts_dir);

}  // namespace trainyard::engine
