#pragma once

#include <sys/random.h>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>

#include "base/check.h"
#include "base/text/hex.h"

namespace trainyard {

/// getrandom(2) returns requests of up to this size completely, even if signals arrive.
inline constexpr std::size_t kRandomBytesMax = 256;

/// A cryptographically secure random integer, or array of integers, from the kernel. Any thread.
///
/// Use this for all randomness that must not be repeatable: std::random_device of Debian's libstdc++ calls
/// glibc's arc4random, which Ubuntu 22.04 lacks. Source: getrandom(2).
template <class T>
  requires(std::has_unique_object_representations_v<T> && sizeof(T) <= kRandomBytesMax)
[[nodiscard]] T RandomBytes() {
  T value{};
  TY_CHECK(::getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value));
  return value;
}

/// So many secure random bytes as lower-case hexadecimal digits: an id that nobody can guess. Any thread.
template <std::size_t kBytes>
[[nodiscard]] std::string RandomHex() {
  const auto bytes = RandomBytes<std::array<unsigned char, kBytes>>();
  return text::Hex(bytes.data(), bytes.size());
}

}  // namespace trainyard
