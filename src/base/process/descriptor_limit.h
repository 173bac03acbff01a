#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/result.h"

/// How many files and sockets a process may have open at once (RLIMIT_NOFILE).
namespace trainyard {

/// Raises this process's soft limit to the hard one; returns the new limit. The old limit is remembered for
/// programs that we start: some cannot use descriptors beyond 1,023 (select). Call it once, before other
/// threads start programs.
std::uint64_t RaiseDescriptorLimit();

/// The soft limit before RaiseDescriptorLimit(); nullopt if it was not raised. Any thread.
[[nodiscard]] std::optional<std::uint64_t> FormerDescriptorLimit() noexcept;

/// Lowers the soft limit of `pid` (0: this process) to `limit`, if it is higher.
Status LowerDescriptorLimit(pid_t pid, std::uint64_t limit);

}  // namespace trainyard
