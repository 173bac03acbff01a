#pragma once

#include "tuning/space.h"

/// The values of one parameter, one by one and on the scale on which they are searched. Pure: any thread.
namespace trainyard::tuning {

/// How many values there are; infinity for a double that has a range.
[[nodiscard]] double ValueCount(const Parameter& parameter);

/// The index-th value, from 0 to ValueCount - 1, in rising order. Not of a double with a range.
[[nodiscard]] double ValueAt(const Parameter& parameter, double index);

[[nodiscard]] bool HasValue(const Parameter& parameter, double value);

/// The place of a value on the parameter's scale, 0 to 1; of a category its index. Values out of range are
/// moved to the nearest bound. Discrete values without a logarithmic scale lie at equal distances: who lists
/// values wants them told apart.
[[nodiscard]] double ToUnit(const Parameter& parameter, double value);

/// The value nearest to a place on the scale: one that the parameter has, whatever the place (NaN: the
/// middle).
[[nodiscard]] double FromUnit(const Parameter& parameter, double unit);

/// Whether the parameter takes part in a point, given the values before it.
[[nodiscard]] bool IsActive(const Space& space, const Point& point, std::size_t parameter);

}  // namespace trainyard::tuning
