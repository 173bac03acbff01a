#include "rules/tuning/encoding.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "rules/tuning/values.h"

namespace trainyard::tuning {
namespace {

constexpr double kMiddle = 0.5;
constexpr double kChoicesMax = 32;  // more whole numbers are searched as a continuous range and rounded
const double kCategoryFeature = 1 / std::numbers::sqrt2;

}  // namespace

Encoding::Encoding(const Space& space) : space_(&space) {
  Eigen::Index column = 0;
  for (const Parameter& parameter : space.parameters) {
    const bool category = parameter.type == Parameter::Type::kCategorical;
    conditional_ = conditional_ || parameter.condition.has_value();
    const std::size_t width = category ? parameter.categories.size() : 1;
    columns_.push_back(column);
    for (std::size_t i = 0; i < width; ++i) {
      features_.group.push_back(features_.groups);
      features_.numeric.push_back(category ? 0 : 1);
    }
    column += static_cast<Eigen::Index>(width);
    ++features_.groups;
    choices_.emplace_back();
    const double count = ValueCount(parameter);
    if (!category && !(count <= kChoicesMax)) continue;
    for (double i = 0; i < count; i += 1) choices_.back().push_back(ToUnit(parameter, ValueAt(parameter, i)));
  }
}

bool Encoding::IsCategory(std::size_t parameter) const {
  return space_->parameters[parameter].type == Parameter::Type::kCategorical;
}

Encoding::Place Encoding::PlaceOf(const Point& point) const {
  Place place(static_cast<Eigen::Index>(size()));
  for (std::size_t i = 0; i < size(); ++i) {
    const bool given = i < point.size() && !std::isnan(point[i]);
    const double inactive = IsCategory(i) ? 0 : kMiddle;
    place[static_cast<Eigen::Index>(i)] = given ? ToUnit(space_->parameters[i], point[i]) : inactive;
  }
  return place;
}

Point Encoding::PointOf(const Place& place) const {
  Point point(size(), kInactive);
  for (std::size_t i = 0; i < size(); ++i) {
    if (IsActive(*space_, point, i)) {
      point[i] = FromUnit(space_->parameters[i], place[static_cast<Eigen::Index>(i)]);
    }
  }
  return point;
}

Eigen::VectorXd Encoding::FeaturesOf(const Place& place) const {
  Eigen::VectorXd features = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(features_.group.size()));
  Point values(size(), kInactive);
  for (std::size_t i = 0; i < size(); ++i) {
    const double coordinate = place[static_cast<Eigen::Index>(i)];
    const bool active = IsActive(*space_, values, i);
    if (active) {
      values[i] = conditional_ || IsCategory(i) ? FromUnit(space_->parameters[i], coordinate) : kMiddle;
    }
    if (!IsCategory(i)) {
      features[columns_[i]] = active ? coordinate : kMiddle;
    } else if (active) {
      features[columns_[i] + static_cast<Eigen::Index>(values[i])] = kCategoryFeature;
    }
  }
  return features;
}

double Encoding::RandomCoordinate(std::size_t parameter, Random& random) const {
  const auto& choices = choices_[parameter];
  if (choices.empty()) return random.Uniform();
  return choices[static_cast<std::size_t>(random.Below(static_cast<double>(choices.size())))];
}

Encoding::Place Encoding::RandomPlace(Random& random) const {
  Place place(static_cast<Eigen::Index>(size()));
  for (std::size_t i = 0; i < size(); ++i) {
    place[static_cast<Eigen::Index>(i)] = RandomCoordinate(i, random);
  }
  return place;
}

}  // namespace trainyard::tuning
