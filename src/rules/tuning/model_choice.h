#pragma once

#include <Eigen/Core>

#include "rules/tuning/gaussian_process.h"

namespace trainyard::tuning {

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
