#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace trainyard::tuning {

/// Random numbers that are the same on every machine for the same seed and stream: SplitMix64. Pure: any
/// thread.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(Mix(seed + kStep) ^ Mix(stream * kStep + 1)) {}

  /// In [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

  /// In [0, count), count in 1..2^53.
  double Below(double count) { return std::floor(Uniform() * count); }

  double Normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * Uniform());
  }

  std::uint64_t Next() { return Mix(state_ += kStep); }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;
  static std::uint64_t Mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace trainyard::tuning
