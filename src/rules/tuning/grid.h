#pragma once

#include <optional>

#include "rules/tuning/space.h"

namespace trainyard::tuning {

/// Every point of a space, one after the other; the last parameter changes fastest. A double with a range
/// keeps its lower bound.
[[nodiscard]] Point FirstPoint(const Space& space);

/// The next point; nothing after the last one.
[[nodiscard]] std::optional<Point> NextPoint(const Space& space, const Point& point);

}  // namespace trainyard::tuning
