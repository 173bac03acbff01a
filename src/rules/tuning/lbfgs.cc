#include "rules/tuning/lbfgs.h"

#include <cmath>
#include <deque>
#include <vector>

namespace trainyard::tuning {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::size_t kPairsMax = 8;
constexpr int kHalvingsMax = 12;

struct Pair {
  VectorXd step;
  VectorXd change;
  double product;
};

// Minus the estimated inverse Hessian times the gradient, over the free variables.
VectorXd Direction(const std::deque<Pair>& pairs, const VectorXd& gradient, const VectorXd& free) {
  VectorXd q = gradient.cwiseProduct(free);
  std::vector<double> alpha(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alpha[i] = pairs[i].step.dot(q) / pairs[i].product;
    q -= alpha[i] * pairs[i].change;
  }
  if (!pairs.empty()) q *= pairs.back().product / pairs.back().change.squaredNorm();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double beta = pairs[i].change.dot(q) / pairs[i].product;
    q += (alpha[i] - beta) * pairs[i].step;
  }
  return -q.cwiseProduct(free);
}

VectorXd FreeVariables(const VectorXd& x, const VectorXd& gradient, const VectorXd& low,
                       const VectorXd& high) {
  VectorXd free = VectorXd::Ones(x.size());
  for (Index i = 0; i < x.size(); ++i) {
    if ((x[i] <= low[i] && gradient[i] > 0) || (x[i] >= high[i] && gradient[i] < 0)) free[i] = 0;
  }
  return free;
}

}  // namespace

Minimum Minimize(const CostFunction& objective, const VectorXd& start, const VectorXd& low,
                 const VectorXd& high, const MinimizeLimits& limits) {
  Minimum best{start.cwiseMax(low).cwiseMin(high), 0, 1};
  VectorXd gradient = VectorXd::Zero(start.size());
  best.value = objective(best.x, gradient);
  if (!std::isfinite(best.value)) return best;
  std::deque<Pair> pairs;
  VectorXd next_gradient(start.size());
  while (best.evaluations < limits.evaluations_max) {
    const VectorXd free = FreeVariables(best.x, gradient, low, high);
    VectorXd direction = Direction(pairs, gradient, free);
    if (!(direction.dot(gradient) < 0)) {
      pairs.clear();
      direction = -gradient.cwiseProduct(free);
    }
    const double norm = direction.norm();
    if (!(norm > 1e-12) || !std::isfinite(norm)) break;
    double length = pairs.empty() ? std::min(1.0, 0.2 * (high - low).maxCoeff() / norm) : 1.0;
    double gain = 0;
    for (int halving = 0; halving < kHalvingsMax && best.evaluations < limits.evaluations_max; ++halving) {
      const VectorXd x = (best.x + length * direction).cwiseMax(low).cwiseMin(high);
      const VectorXd step = x - best.x;
      const double value = objective(x, next_gradient);
      ++best.evaluations;
      if (std::isfinite(value) && value <= best.value + 1e-4 * gradient.dot(step)) {
        gain = best.value - value;
        const VectorXd change = next_gradient - gradient;
        const double product = step.dot(change);
        if (product > 1e-10 * step.norm() * change.norm()) {
          pairs.push_back({step, change, product});
          if (pairs.size() > kPairsMax) pairs.pop_front();
        }
        best.x = x;
        best.value = value;
        gradient = next_gradient;
        break;
      }
      length *= halving == 0 ? 0.3 : 0.2;
    }
    if (!(gain > limits.gain_min)) break;
  }
  return best;
}

}  // namespace trainyard::tuning
