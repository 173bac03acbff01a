#pragma once

#include <cstdint>

namespace trainyard::replica {

/// Gives each line of an attempt its time: nanoseconds since 1970 that strictly increase and are odd,
/// whatever the clock does. Odd, so that JSON always prints nine fraction digits (clients compare timestamps
/// as text). Pure.
class Stamper {
 public:
  [[nodiscard]] std::uint64_t Next(std::uint64_t now_ns) noexcept {
    const std::uint64_t odd = now_ns | 1;
    last_ = odd > last_ ? odd : last_ + 2;
    return last_;
  }

 private:
  std::uint64_t last_ = 0;
};

}  // namespace trainyard::replica
