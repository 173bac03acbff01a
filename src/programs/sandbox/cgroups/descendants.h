#pragma once

#include <sys/types.h>

#include <string_view>
#include <vector>

namespace trainyard::replica {

/// The parent of a process from its /proc/PID/stat; -1 if the text is something else. Pure: any thread.
[[nodiscard]] pid_t ParentFromStat(std::string_view stat) noexcept;

/// Every process below `root`, at this moment.
[[nodiscard]] std::vector<pid_t> Descendants(pid_t root);

/// Kills everything below the calling process and reaps it; returns when nothing is left. The caller must be
/// a child subreaper, so that what loses its parent comes to it. For where there is no PID namespace.
void KillDescendants() noexcept;

}  // namespace trainyard::replica
