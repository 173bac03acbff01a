#pragma once

#include <chrono>

#include "base/clock.h"

namespace trainyard {

/// The machine's clock. Any thread.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return std::chrono::system_clock::now(); }
};

}  // namespace trainyard
