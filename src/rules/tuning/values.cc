#include "rules/tuning/values.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard::tuning {
namespace {

// Places on the parameter's scaled axis; differences and ratios cannot overflow.
double Scaled(Scale scale, double min, double max, double value) {
  if (!(max > min)) return 0.5;
  switch (scale) {
    case Scale::kLinear: return (value / 2 - min / 2) / (max / 2 - min / 2);
    case Scale::kLog: return (std::log(value) - std::log(min)) / (std::log(max) - std::log(min));
    case Scale::kReverseLog:
      return 1 - (std::log((max - value) + min) - std::log(min)) / (std::log(max) - std::log(min));
  }
  return 0.5;
}

double Unscaled(Scale scale, double min, double max, double unit) {
  switch (scale) {
    case Scale::kLinear: return min * (1 - unit) + max * unit;
    case Scale::kLog: return std::exp(std::log(min) * (1 - unit) + std::log(max) * unit);
    case Scale::kReverseLog: return max - (std::exp(std::log(min) * unit + std::log(max) * (1 - unit)) - min);
  }
  return min;
}

// A logarithm needs a positive lower bound. Validation guarantees that for the space, but not for a point.
Scale UsableScale(Scale scale, double min) { return min > 0 ? scale : Scale::kLinear; }

double Clamped(double value, double min, double max) {
  if (std::isnan(value)) return min + (max - min) / 2;
  return std::clamp(value, min, std::max(min, max));
}

double DiscreteToUnit(const Parameter& parameter, double value) {
  const auto& values = parameter.discrete;
  const double clamped = Clamped(value, values.front(), values.back());
  if (values.size() < 2) return 0.5;
  const Scale scale = UsableScale(parameter.scale, values.front());
  if (scale != Scale::kLinear) return Scaled(scale, values.front(), values.back(), clamped);
  const auto above = std::ranges::lower_bound(values, clamped);
  auto index = static_cast<double>(above - values.begin());
  if (above != values.begin() && clamped - *(above - 1) < *above - clamped) index -= 1;
  return index / static_cast<double>(values.size() - 1);
}

double DiscreteFromUnit(const Parameter& parameter, double unit) {
  const auto& values = parameter.discrete;
  const Scale scale = UsableScale(parameter.scale, values.front());
  if (scale == Scale::kLinear || values.size() < 2) {
    return values[static_cast<std::size_t>(std::lround(unit * static_cast<double>(values.size() - 1)))];
  }
  return *std::ranges::min_element(values, {}, [&](double value) {
    return std::abs(Scaled(scale, values.front(), values.back(), value) - unit);
  });
}

// The nearest value in range; a whole number for an integer.
double WholeOf(const Parameter& parameter, double value) {
  if (parameter.type == Parameter::Type::kDouble) return Clamped(value, parameter.min, parameter.max);
  return Clamped(std::round(value), std::ceil(parameter.min), std::floor(parameter.max));
}

}  // namespace

double ValueCount(const Parameter& parameter) {
  switch (parameter.type) {
    case Parameter::Type::kDouble:
      return parameter.min < parameter.max ? std::numeric_limits<double>::infinity() : 1;
    case Parameter::Type::kInteger:
      return std::max(1.0, std::floor(parameter.max) - std::ceil(parameter.min) + 1);
    case Parameter::Type::kDiscrete: return static_cast<double>(parameter.discrete.size());
    case Parameter::Type::kCategorical: return static_cast<double>(parameter.categories.size());
  }
  return 1;
}

double ValueAt(const Parameter& parameter, double index) {
  switch (parameter.type) {
    case Parameter::Type::kDouble: return parameter.min;
    case Parameter::Type::kInteger: return std::ceil(parameter.min) + index;
    case Parameter::Type::kDiscrete: return parameter.discrete[static_cast<std::size_t>(index)];
    case Parameter::Type::kCategorical: return index;
  }
  return index;
}

bool HasValue(const Parameter& parameter, double value) {
  switch (parameter.type) {
    case Parameter::Type::kDouble: return value >= parameter.min && value <= parameter.max;
    case Parameter::Type::kInteger:
      return value == std::floor(value) && value >= std::ceil(parameter.min) &&
             value <= std::floor(parameter.max);
    case Parameter::Type::kDiscrete: return std::ranges::binary_search(parameter.discrete, value);
    case Parameter::Type::kCategorical:
      return value == std::floor(value) && value >= 0 &&
             value < static_cast<double>(parameter.categories.size());
  }
  return false;
}

double ToUnit(const Parameter& parameter, double value) {
  switch (parameter.type) {
    case Parameter::Type::kCategorical:
      return std::round(Clamped(value, 0, static_cast<double>(parameter.categories.size()) - 1));
    case Parameter::Type::kDiscrete: return DiscreteToUnit(parameter, value);
    case Parameter::Type::kDouble:
    case Parameter::Type::kInteger: break;
  }
  return Scaled(UsableScale(parameter.scale, parameter.min), parameter.min, parameter.max,
                Clamped(value, parameter.min, parameter.max));
}

double FromUnit(const Parameter& parameter, double unit) {
  if (parameter.type == Parameter::Type::kCategorical) {
    return std::round(Clamped(unit, 0, static_cast<double>(parameter.categories.size()) - 1));
  }
  const double place = Clamped(unit, 0, 1);
  if (parameter.type == Parameter::Type::kDiscrete) return DiscreteFromUnit(parameter, place);
  const Scale scale = UsableScale(parameter.scale, parameter.min);
  const double value = Unscaled(scale, parameter.min, parameter.max, place);
  if (place == 0 || place == 1) return WholeOf(parameter, place == 0 ? parameter.min : parameter.max);
  return WholeOf(parameter, value);
}

bool IsActive(const Space& space, const Point& point, std::size_t parameter) {
  const auto& condition = space.parameters[parameter].condition;
  if (!condition) return true;
  const double parent = point[static_cast<std::size_t>(condition->parent)];
  return std::ranges::find(condition->values, parent) != condition->values.end();
}

}  // namespace trainyard::tuning
