#include "rules/tuning/space.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "rules/tuning/values.h"

namespace trainyard::tuning {
namespace {

constexpr double kWholeMax = 9007199254740992.0;  // 2^53: doubles represent every whole number up to here

std::string NumberText(double value, bool whole) {
  std::array<char, 400> text{};
  const double shown = value == 0 ? 0.0 : value;  // not "-0"
  const auto end = whole ? std::to_chars(text.begin(), text.end(), shown, std::chars_format::fixed, 0)
                         : std::to_chars(text.begin(), text.end(), shown);
  return {text.begin(), end.ptr};
}

// Number of points below one parameter: for each value, the combinations of the children that it activates.
double CountBelow(const Space& space, std::size_t parameter) {
  const Parameter& it = space.parameters[parameter];
  const double all = ValueCount(it);
  double special = 0;
  double total = 0;
  std::vector<double> named;
  for (std::size_t child = parameter + 1; child < space.parameters.size(); ++child) {
    const auto& condition = space.parameters[child].condition;
    if (condition && condition->parent == static_cast<int>(parameter)) {
      named.insert(named.end(), condition->values.begin(), condition->values.end());
    }
  }
  std::ranges::sort(named);
  named.erase(std::ranges::unique(named).begin(), named.end());
  for (const double value : named) {
    if (!HasValue(it, value)) continue;
    double below = 1;
    for (std::size_t child = parameter + 1; child < space.parameters.size(); ++child) {
      const auto& condition = space.parameters[child].condition;
      if (!condition || condition->parent != static_cast<int>(parameter)) continue;
      if (std::ranges::find(condition->values, value) != condition->values.end()) {
        below *= CountBelow(space, child);
      }
    }
    special += 1;
    total += below;
  }
  return total + (all - special);
}

}  // namespace

std::string ValueText(const Parameter& parameter, double value) {
  switch (parameter.type) {
    case Parameter::Type::kDouble: return NumberText(value, false);
    case Parameter::Type::kInteger:
    case Parameter::Type::kDiscrete:
      return NumberText(value, std::abs(value) <= kWholeMax && value == std::trunc(value));
    case Parameter::Type::kCategorical: break;
  }
  const auto count = parameter.categories.size();
  if (count == 0 || !(value >= 0)) return {};
  return parameter.categories[std::min(count - 1, static_cast<std::size_t>(value))];
}

std::optional<double> CountPoints(const Space& space) {
  double total = 1;
  for (std::size_t i = 0; i < space.parameters.size(); ++i) {
    const Parameter& parameter = space.parameters[i];
    if (parameter.type == Parameter::Type::kDouble && parameter.min < parameter.max) return std::nullopt;
    if (!parameter.condition) total *= CountBelow(space, i);
    if (!(total <= kWholeMax)) return std::nullopt;
  }
  return total;
}

}  // namespace trainyard::tuning
