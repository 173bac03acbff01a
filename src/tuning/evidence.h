#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "tuning/encoding.h"
#include "tuning/study.h"

namespace trainyard::tuning {

/// What the trials of a study say, with one number to be made small. Pure: any thread.
struct Evidence {
  std::vector<Encoding::Place> places;  ///< of trials with results, in the order of the trials
  Eigen::VectorXd losses;               ///< theirs; finite
  std::vector<Encoding::Place> pending;
  std::vector<Encoding::Place> infeasible;
};

/// One metric: its value, with the sign turned if it is to be large. Several: the worst of them by weights
/// drawn for the `index`-th suggestion, each as a share of its range (augmented Chebyshev scalarisation;
/// source: Knowles 2006, ParEGO). A trial that was stopped early counts as no better than the median of the
/// others: its value is not what it would have become. Results that are not finite are none.
[[nodiscard]] Evidence Gather(const StudySpec& spec, const Encoding& encoding, std::span<const Trial> trials,
                              std::uint64_t index);

/// Losses on a scale on which a model finds them easier, of mean 0 and deviation 1:
///   s = (loss - least) / (median - least);  log(1 + s) or ((1 + s)^power - 1) / power.
struct Warped {
  Eigen::VectorXd values;
  double log_slope = 0;  ///< sum over the values of the logarithm of the warp's derivative: makes likelihoods
                         ///< of different powers comparable
};
[[nodiscard]] Warped Warp(const Eigen::VectorXd& losses, double power);

}  // namespace trainyard::tuning
