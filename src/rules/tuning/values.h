#pragma once

#include "rules/tuning/space.h"

/// The values of one parameter, by index and on the scale on which they are searched. Pure: any thread.
namespace trainyard::tuning {

/// The number of values; infinity for a double with a range.
[[nodiscard]] double ValueCount(const Parameter& parameter);

/// The index-th value, from 0 to ValueCount - 1, in rising order. Not for a double with a range.
[[nodiscard]] double ValueAt(const Parameter& parameter, double index);

[[nodiscard]] bool HasValue(const Parameter& parameter, double value);

/// The place of a value on the parameter's scale, 0 to 1; for a category its index. Values out of range are
/// moved to the nearest bound. Discrete values without a logarithmic scale have equal distances, so that all
/// listed values are distinguished.
[[nodiscard]] double ToUnit(const Parameter& parameter, double value);

/// The parameter's value nearest to a place on the scale; any place is accepted (NaN counts as the middle).
[[nodiscard]] double FromUnit(const Parameter& parameter, double unit);

/// Whether the parameter is active in a point, given the values before it.
[[nodiscard]] bool IsActive(const Space& space, const Point& point, std::size_t parameter);

}  // namespace trainyard::tuning
