#include <sys/random.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/async/random_bytes.h"
#include "base/check.h"

/// Replaces glibc's functions of these names, which exist since 2.36: a program that needs glibc's does not
/// start on Ubuntu 22.04 (2.35). Our code does not call them. Debian's libstdc++.a refers to the first in
/// std::random_device, its libarchive.a to the second for archives with passwords, and the linker keeps
/// references of code that it drops. The symbols are hidden, so other libraries still use glibc's. Source:
/// arc4random(3).
extern "C" {

__attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  return trainyard::RandomBytes<std::uint32_t>();
}

__attribute__((visibility("hidden"))) void arc4random_buf(void* bytes, std::size_t size) noexcept {
  for (auto* next = static_cast<std::byte*>(bytes); size > 0;) {
    const std::size_t part = std::min(size, trainyard::kRandomBytesMax);
    TY_CHECK(::getrandom(next, part, 0) == static_cast<ssize_t>(part));
    next += part;
    size -= part;
  }
}

}  // extern "C"
