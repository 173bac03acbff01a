#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "rules/tuning/gaussian_process.h"
#include "rules/tuning/random.h"
#include "rules/tuning/space.h"

namespace trainyard::tuning {

/// Encodes points for the model and the search. A *place* has one number per parameter: 0 to 1 on its scale,
/// or the index of a category; inactive parameters have one, too. Distances are measured between features: a
/// place's numbers, 1/sqrt(2) in the column of a category (two categories have distance 1), and the middle
/// for an inactive parameter. Pure: any thread.
class Encoding {
 public:
  using Place = Eigen::VectorXd;

  explicit Encoding(const Space& space);

  [[nodiscard]] const Features& features() const noexcept { return features_; }
  [[nodiscard]] std::size_t size() const noexcept { return space_->parameters.size(); }

  /// Accepts any point: a point of another space, or with values out of range, is moved into this space.
  [[nodiscard]] Place PlaceOf(const Point& point) const;
  /// Returns only values of the space; kInactive if a condition does not hold.
  [[nodiscard]] Point PointOf(const Place& place) const;
  [[nodiscard]] Eigen::VectorXd FeaturesOf(const Place& place) const;

  /// Uniform on the scale; over the values if the parameter has few.
  [[nodiscard]] Place RandomPlace(Random& random) const;
  [[nodiscard]] double RandomCoordinate(std::size_t parameter, Random& random) const;

  /// Whether a coordinate is continuous: a double, or an integer with so many values that it counts as one.
  [[nodiscard]] bool IsContinuous(std::size_t parameter) const { return choices_[parameter].empty(); }
  /// The places of a parameter that is not continuous.
  [[nodiscard]] const std::vector<double>& Choices(std::size_t parameter) const {
    return choices_[parameter];
  }
  [[nodiscard]] bool IsCategory(std::size_t parameter) const;
  /// The first column of a parameter.
  [[nodiscard]] Eigen::Index Column(std::size_t parameter) const { return columns_[parameter]; }

 private:
  const Space* space_;  // owned by the tuner, outlives this
  Features features_;
  bool conditional_ = false;  // whether any parameter has a condition
  std::vector<Eigen::Index> columns_;
  std::vector<std::vector<double>> choices_;
};

}  // namespace trainyard::tuning
