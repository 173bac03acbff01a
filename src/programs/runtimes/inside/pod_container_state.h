#pragma once

#include <cstdint>

/// The container's memory and processes, as pod_starter.cc sees them from inside.
namespace trainyard::replica::pod {

/// How many processes of the container the kernel has killed for memory; -1: unknown. Source: memory.events
/// (cgroup version 2), memory.oom_control (version 1).
[[nodiscard]] int OomKills();

/// The memory of the container, from its cgroup; 0: unknown, or no limit.
struct MemoryOfContainer {
  std::int64_t limit_bytes;
  std::int64_t peak_bytes;
};
[[nodiscard]] MemoryOfContainer ContainerMemory();

/// Kills (SIGKILL) all other processes of the container. If the caller is not process 1, only its children:
/// their children become the caller's, which is a subreaper, when they have ended. Call it again after each
/// end, until there are no children.
void KillOthers();

}  // namespace trainyard::replica::pod
