#include <cstdint>

#include "async/random_bytes.h"

/// glibc's function of that name, which is of 2.36: a program that takes it from there does not start on
/// Ubuntu 22.04 (2.35). Nothing of ours calls it; Debian's libstdc++.a names it in std::random_device, and
/// the linker keeps the names of what it drops. Hidden: other libraries go on with glibc's. Source:
/// arc4random(3).
extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  return trainyard::RandomBytes<std::uint32_t>();
}
