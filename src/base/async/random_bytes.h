#pragma once

#include <sys/random.h>

#include <cstddef>
#include <type_traits>

#include "base/check.h"

namespace trainyard {

/// Up to so many bytes getrandom(2) gives whole, whatever signals arrive.
inline constexpr std::size_t kRandomBytesMax = 256;

/// An integer, or an array of integers, that nobody can guess: from the kernel. Any thread.
///
/// The one way to chance that is not repeatable: std::random_device of Debian's libstdc++ asks glibc's
/// arc4random, which Ubuntu 22.04 lacks. Source: getrandom(2).
template <class T>
  requires(std::has_unique_object_representations_v<T> && sizeof(T) <= kRandomBytesMax)
[[nodiscard]] T RandomBytes() {
  T value{};
  TY_CHECK(::getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value));
  return value;
}

}  // namespace trainyard
