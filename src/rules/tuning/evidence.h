#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "rules/tuning/encoding.h"
#include "rules/tuning/gaussian_process.h"
#include "rules/tuning/space.h"

namespace trainyard::tuning {

/// The results of a study's trials, as one number each, to be minimised. Pure: any thread.
struct Evidence {
  std::vector<Encoding::Place> places;  ///< of trials with results, in the order of the trials
  Eigen::VectorXd losses;               ///< of the same trials; finite
  std::vector<Encoding::Place> pending;
  std::vector<Encoding::Place> infeasible;
};

/// With one metric, its value, negated if it is maximised. With several, the worst of them by weights drawn
/// for the `index`-th suggestion, each as a share of its range (augmented Chebyshev scalarisation; source:
/// Knowles 2006, ParEGO). A trial that was stopped early counts as no better than the median of the others,
/// because its value is not final. Results that are not finite are ignored.
[[nodiscard]] Evidence Gather(const StudySpec& spec, const Encoding& encoding, std::span<const Trial> trials,
                              std::uint64_t index);

/// Losses on a scale that is easier to model, with mean 0 and standard deviation 1:
///   s = (loss - least) / (median - least);  log(1 + s) or ((1 + s)^power - 1) / power.
struct Warped {
  Eigen::VectorXd values;
  double log_slope = 0;  ///< sum of the logarithms of the warp's derivative: makes likelihoods comparable
};
[[nodiscard]] Warped Warp(const Eigen::VectorXd& losses, double power);

/// The most likely of several models of the losses at the rows of x; they differ in the kernel and in the
/// warp of the losses. With many rows the hyperparameters are fitted to a part of them: one half of the part
/// are the first rows, the other half is spread evenly over the rest. Deterministic; pure: any thread.
[[nodiscard]] GaussianProcess ChooseModel(const Features& features, const Eigen::MatrixXd& x,
                                          const Eigen::VectorXd& losses,
                                          const GaussianProcessOptions& options);

/// `count` of the numbers below `size`: the first `head` ones, and others at equal distances; all numbers if
/// there are no more.
[[nodiscard]] std::vector<Eigen::Index> HeadAndSpread(Eigen::Index size, Eigen::Index count,
                                                      Eigen::Index head);

}  // namespace trainyard::tuning
