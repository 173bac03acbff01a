#pragma once

#include <chrono>
#include <string>

namespace trainyard::jobs {

/// A program that has written nothing for this long may hang.
inline constexpr std::chrono::minutes kLongSilence{30};

/// "No output for 34 minutes; it uses 97 % of its CPUs." Empty before kLongSilence.
/// @param cpu_use  0 to 1; below 0: unknown. Pure: any thread.
[[nodiscard]] std::string SilenceRemark(std::chrono::nanoseconds silence, double cpu_use);

}  // namespace trainyard::jobs
