#include "rules/measurement/columns.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/extremes.h"

namespace trainyard::measurement {

namespace {

using Indexes = std::vector<std::size_t>;

Columns Select(const Columns& from, std::span<const std::size_t> indexes) {
  Columns to;
  to.steps.reserve(indexes.size());
  to.times.reserve(indexes.size());
  to.values.reserve(indexes.size());
  for (const std::size_t i : indexes) to.Append(from.steps[i], from.times[i], from.values[i]);
  return to;
}

/// The points of a range. Steps are in order, times need not be.
Indexes Within(const Columns& columns, const Range& range) {
  const std::vector<double>& axis = range.axis == Range::Axis::kStep ? columns.steps : columns.times;
  Indexes inside;
  for (std::size_t i = 0; i < axis.size(); ++i) {
    if (axis[i] >= range.from && axis[i] <= range.to) inside.push_back(i);
  }
  return inside;
}

}  // namespace

void Columns::Append(double step, double time_s, float value) {
  steps.push_back(step);
  times.push_back(time_s);
  values.push_back(value);
}

Columns Ordered(Columns columns) {
  const auto key = [&columns](std::size_t i) { return std::pair(columns.steps[i], columns.times[i]); };
  Indexes order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&key](std::size_t i) { return std::pair(key(i), i); });
  Indexes kept;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k + 1 == order.size() || key(order[k]) != key(order[k + 1])) kept.push_back(order[k]);
  }
  return Select(columns, kept);
}

Part PartOf(const Columns& ordered, const Range& range, std::size_t points_max) {
  const Indexes inside = Within(ordered, range);
  std::vector<double> values;
  values.reserve(inside.size());
  for (const std::size_t i : inside) values.push_back(ordered.values[i]);
  Indexes kept = ExtremesOf(values, points_max);
  for (std::size_t& k : kept) k = inside[k];
  return {.columns = Select(ordered, kept), .points = inside.size()};
}

}  // namespace trainyard::measurement
