#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "tuning/gaussian_process.h"
#include "tuning/random.h"
#include "tuning/space.h"

namespace trainyard::tuning {

/// Points as the model and the search see them. A *place* has one number per parameter: 0 to 1 on its scale,
/// or the index of a category; it counts for parameters that are not active, too. Features are what
/// distances are measured in: a place's numbers, 1/sqrt(2) in the column of a category (two categories are 1
/// apart), the middle for a parameter that is not active. Pure: any thread.
class Encoding {
 public:
  using Place = Eigen::VectorXd;

  explicit Encoding(const Space& space);

  [[nodiscard]] const Features& features() const noexcept { return features_; }
  [[nodiscard]] std::size_t size() const noexcept { return space_->parameters.size(); }

  /// Any point: one of another space, or with values out of range, is moved into this one.
  [[nodiscard]] Place PlaceOf(const Point& point) const;
  /// Only values that the space has; kInactive where a condition does not hold.
  [[nodiscard]] Point PointOf(const Place& place) const;
  [[nodiscard]] Eigen::VectorXd FeaturesOf(const Place& place) const;

  /// Uniform on the scale; among values where the parameter has few.
  [[nodiscard]] Place RandomPlace(Random& random) const;
  [[nodiscard]] double RandomCoordinate(std::size_t parameter, Random& random) const;

  /// Whether a coordinate moves freely: a double, or so many whole numbers that they are as good as one.
  [[nodiscard]] bool IsContinuous(std::size_t parameter) const { return choices_[parameter].empty(); }
  /// The places of a parameter that is not continuous.
  [[nodiscard]] const std::vector<double>& Choices(std::size_t parameter) const {
    return choices_[parameter];
  }
  [[nodiscard]] bool IsCategory(std::size_t parameter) const;
  /// The first column of a parameter.
  [[nodiscard]] Eigen::Index Column(std::size_t parameter) const { return columns_[parameter]; }

 private:
  const Space* space_;  // the tuner's, outlives this
  Features features_;
  bool conditional_ = false;  // whether any parameter has a condition
  std::vector<Eigen::Index> columns_;
  std::vector<std::vector<double>> choices_;
};

}  // namespace trainyard::tuning
