#pragma once

#include <chrono>

#include "base/result.h"

namespace trainyard {

/// Between a fork and its exec, a child has its parent's descriptors, and with them its locks, even if the
/// parent was killed meanwhile: a lock that is free again within this time was nobody's.
inline constexpr std::chrono::milliseconds kForkWindowMax{2'000};

/// flock(2), exclusive, of an open file. Blocks for `wait_max` at most. False: somebody has it all the time.
[[nodiscard]] Result<bool> TakeLock(int descriptor, std::chrono::milliseconds wait_max = kForkWindowMax);

}  // namespace trainyard
