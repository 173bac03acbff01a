#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// Which values of a long series a chart needs: the one rule for whatever we draw. Pure: any thread.
namespace trainyard {

/// Fewer values than this cannot be asked for.
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

/// The positions of the values that stay, in order: at most `values_max` (at least kExtremesMin). All where
/// there is room; else the first, the last, and of each of equal parts between them the smallest, the largest
/// and a NaN if there is one, so that no peak is lost however few are drawn.
[[nodiscard]] std::vector<std::size_t> ExtremesOf(std::span<const double> values, std::size_t values_max);

}  // namespace trainyard
