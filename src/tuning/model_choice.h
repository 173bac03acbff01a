#pragma once

#include <Eigen/Core>

#include "tuning/gaussian_process.h"

namespace trainyard::tuning {

/// The likeliest of several models of the losses at the rows of x: they differ in the kernel and in how the
/// losses are warped. With many rows the hyperparameters are those of a part of them: the first half of the
/// part are the first rows, the others lie evenly among the rest. Deterministic; pure: any thread.
[[nodiscard]] GaussianProcess ChooseModel(const Features& features, const Eigen::MatrixXd& x,
                                          const Eigen::VectorXd& losses,
                                          const GaussianProcessOptions& options);

/// `count` of the numbers below `size`: the first `head` ones, and others at equal distances; all if they
/// are no more.
[[nodiscard]] std::vector<Eigen::Index> HeadAndSpread(Eigen::Index size, Eigen::Index count,
                                                      Eigen::Index head);

}  // namespace trainyard::tuning
