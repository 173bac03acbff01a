#pragma once

#include <chrono>

namespace trainyard {

/// Wall-clock time as the API shows it: UTC, nanoseconds.
using SysTime = std::chrono::sys_time<std::chrono::nanoseconds>;

/// The only way to read the time. Pure code takes `now` as an argument; code at the edge reads the injected
/// clock. Any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual SysTime Now() const = 0;
};

}  // namespace trainyard
