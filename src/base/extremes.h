#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// Decides which values of a long series a chart needs. All our charts use this rule. Pure: any thread.
namespace trainyard {

/// The minimum of values_max.
inline constexpr std::size_t kExtremesMin = 8;

/// Positions within a series, `end` excluded.
struct Slice {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Part `k` of `parts` parts of a series, as equal as they can be; none is empty if parts <= size.
[[nodiscard]] constexpr Slice SliceOf(std::size_t size, std::size_t k, std::size_t parts) {
  return {.begin = size * k / parts, .end = size * (k + 1) / parts};
}

/// The positions of the values to draw, in order: at most `values_max` (which is at least kExtremesMin). All
/// values if they fit; else the first, the last, and for each of the equal parts between them the smallest,
/// the largest and a NaN if there is one, so that no peak is lost.
[[nodiscard]] std::vector<std::size_t> ExtremesOf(std::span<const double> values, std::size_t values_max);

}  // namespace trainyard
