#pragma once

#include <Eigen/Core>
#include <vector>

#include "rules/tuning/encoding.h"
#include "rules/tuning/gaussian_process.h"
#include "rules/tuning/random.h"

namespace trainyard::tuning {

/// The logarithm of h(z) = pdf(z) + z cdf(z), exact to about 1e-10 for every z, and its derivative.
/// Source: Ament et al., Unexpected Improvements to Expected Improvement, 2023.
struct LogImprovement {
  double value = 0;
  double slope = 0;
};
[[nodiscard]] LogImprovement LogExpectedImprovement(double z);

/// A model's coordinates: (features - offset) * scale, by column.
struct Lens {
  Eigen::VectorXd offset;
  Eigen::VectorXd scale;

  [[nodiscard]] static Lens Identity(Eigen::Index columns);
  [[nodiscard]] Eigen::MatrixXd Through(const Eigen::MatrixXd& rows) const;
};

/// The probability that a trial has a result, estimated from the nearby trials with and without one.
struct Feasibility {
  Eigen::MatrixXd points;  ///< features, by row; no rows: all trials had a result
  Eigen::VectorXd failed;  ///< 1: had no result
  Eigen::VectorXd rate;    ///< 1 / length, by column

  /// Returns the logarithm, weighted, and adds its gradient.
  [[nodiscard]] double LogProbability(const Eigen::VectorXd& features, Eigen::VectorXd* gradient) const;
};

/// The worth of a point: the logarithm of the expected improvement below `best` times the probability of a
/// result.
struct Acquisition {
  const GaussianProcess* model = nullptr;
  Lens lens;
  Feasibility feasibility;
  double best = 0;

  [[nodiscard]] Eigen::VectorXd Of(const Eigen::MatrixXd& features) const;
  double Of(const Eigen::VectorXd& features, Eigen::VectorXd& gradient) const;
};

/// The region to search: bounds of the places' numbers; categories are not bounded.
struct SearchRegion {
  Encoding::Place low;
  Encoding::Place high;
};

struct Scored {
  Encoding::Place place;
  double value = 0;
};

struct SearchEffort {
  int random = 300;  ///< places drawn anywhere in the region
  int near = 300;    ///< places drawn around the seeds
  int polished = 4;  ///< number of best places improved by their gradient
  int steps = 40;    ///< evaluations for each of them
};

/// Places of high worth, best first; at least one. `seeds`: good places so far, best first.
[[nodiscard]] std::vector<Scored> Search(const Encoding& encoding, const Acquisition& acquisition,
                                         const SearchRegion& region,
                                         const std::vector<Encoding::Place>& seeds,
                                         const SearchEffort& limits, Random& random);

}  // namespace trainyard::tuning
