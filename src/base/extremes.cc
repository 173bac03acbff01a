#include "base/extremes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace trainyard {

namespace {

/// Adds the positions to draw of one part, in order.
void TakeExtremes(std::span<const double> values, Slice part, std::vector<std::size_t>& taken) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::size_t least = kNone;
  std::size_t most = kNone;
  std::size_t not_a_number = kNone;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (std::isnan(values[i])) {
      if (not_a_number == kNone) not_a_number = i;
      continue;
    }
    if (least == kNone || values[i] < values[least]) least = i;
    if (most == kNone || values[i] > values[most]) most = i;
  }
  std::array<std::size_t, 3> chosen{least, most, not_a_number};
  std::ranges::sort(chosen);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    if (chosen[k] != kNone && (k == 0 || chosen[k] != chosen[k - 1])) taken.push_back(chosen[k]);
  }
}

}  // namespace

std::vector<std::size_t> ExtremesOf(std::span<const double> values, std::size_t values_max) {
  values_max = std::max(values_max, kExtremesMin);
  if (values.size() <= values_max) {
    std::vector<std::size_t> all(values.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  const bool has_nan = std::ranges::any_of(values, [](double value) { return std::isnan(value); });
  const std::size_t parts = (values_max - 2) / (has_nan ? 3 : 2);
  std::vector<std::size_t> taken{0};
  for (std::size_t k = 0; k < parts; ++k) {
    const Slice part = SliceOf(values.size() - 2, k, parts);
    TakeExtremes(values, {.begin = part.begin + 1, .end = part.end + 1}, taken);
  }
  taken.push_back(values.size() - 1);
  return taken;
}

}  // namespace trainyard
