#pragma once

#include <Eigen/Core>
#include <functional>

namespace trainyard::tuning {

/// Returns the value at x and writes its gradient to `gradient` (same size). If it returns infinity or NaN,
/// the step is rejected.
using CostFunction = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

struct MinimizeLimits {
  int evaluations_max = 60;
  double gain_min = 1e-6;  ///< the search ends when a step gains less
};

struct Minimum {
  Eigen::VectorXd x;
  double value = 0;
  int evaluations = 0;
};

/// The minimum near `start` within the box [low, high]: projected L-BFGS with backtracking.
/// Source: Nocedal and Wright, Numerical Optimization, algorithm 7.4; Bertsekas 1982 (projection).
[[nodiscard]] Minimum Minimize(const CostFunction& objective, const Eigen::VectorXd& start,
                               const Eigen::VectorXd& low, const Eigen::VectorXd& high,
                               const MinimizeLimits& limits);

}  // namespace trainyard::tuning
