#include "rules/tuning/grid.h"

#include <algorithm>
#include <cmath>

#include "rules/tuning/values.h"

namespace trainyard::tuning {
namespace {

void StartFrom(const Space& space, Point& point, std::size_t parameter) {
  for (std::size_t i = parameter; i < space.parameters.size(); ++i) {
    point[i] = IsActive(space, point, i) ? ValueAt(space.parameters[i], 0) : kInactive;
  }
}

// The value after this one; nothing after the last one.
std::optional<double> NextValue(const Parameter& parameter, double value) {
  const double count = ValueCount(parameter);
  if (!std::isfinite(count)) return std::nullopt;
  double index = value;
  if (parameter.type == Parameter::Type::kInteger) index = value - ValueAt(parameter, 0);
  if (parameter.type == Parameter::Type::kDouble) index = 0;
  if (parameter.type == Parameter::Type::kDiscrete) {
    index =
        static_cast<double>(std::ranges::lower_bound(parameter.discrete, value) - parameter.discrete.begin());
  }
  if (index + 1 >= count) return std::nullopt;
  return ValueAt(parameter, index + 1);
}

}  // namespace

Point FirstPoint(const Space& space) {
  Point point(space.parameters.size(), kInactive);
  StartFrom(space, point, 0);
  return point;
}

std::optional<Point> NextPoint(const Space& space, const Point& point) {
  Point next = point;
  for (std::size_t i = next.size(); i-- > 0;) {
    if (std::isnan(next[i])) continue;
    if (const auto value = NextValue(space.parameters[i], next[i])) {
      next[i] = *value;
      StartFrom(space, next, i + 1);
      return next;
    }
  }
  return std::nullopt;
}

}  // namespace trainyard::tuning
