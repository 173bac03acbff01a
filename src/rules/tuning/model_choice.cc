#include "rules/tuning/model_choice.h"

#include <limits>
#include <optional>
#include <utility>

#include "rules/tuning/evidence.h"

namespace trainyard::tuning {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kFitRowsMax = 80;
constexpr int kRefinementsMax = 8;  // evaluations for a model that starts from another one's hyperparameters

struct Candidate {
  GaussianProcess model;
  double power;
  double loss;
};

}  // namespace

std::vector<Index> HeadAndSpread(Index size, Index count, Index head) {
  std::vector<Index> chosen;
  for (Index i = 0; i < std::min(size, count); ++i) {
    const bool first = size <= count || i < head;
    chosen.push_back(first ? i : head + (i - head) * (size - head) / (count - head));
  }
  return chosen;
}

GaussianProcess ChooseModel(const Features& features, const MatrixXd& x, const VectorXd& losses,
                            const GaussianProcessOptions& options) {
  const std::vector<Index> part = HeadAndSpread(x.rows(), kFitRowsMax, kFitRowsMax / 2);
  const MatrixXd part_x = x(part, Eigen::all);
  const VectorXd part_losses = losses(part);
  std::optional<Candidate> best;
  const auto consider = [&](Kernel kernel, double power) {
    GaussianProcessOptions its = options;
    its.kernel = kernel;
    if (best) its.evaluations_max = std::min(its.evaluations_max, kRefinementsMax);
    const Warped warped = Warp(part_losses, power);
    GaussianProcess model(features, part_x, warped.values, its);
    model.Fit(best ? best->model.hyperparameters() : model.Default());
    const double loss = model.loss() - warped.log_slope;
    if (!best || loss < best->loss) best.emplace(std::move(model), power, loss);
  };
  consider(Kernel::kMatern52, 1);
  consider(Kernel::kMatern52, 0);
  consider(Kernel::kGaussian, best->power);
  if (part.size() == static_cast<std::size_t>(x.rows())) return std::move(best->model);
  GaussianProcessOptions its = options;
  its.kernel = best->model.options().kernel;
  GaussianProcess whole(features, x, Warp(losses, best->power).values, its);
  whole.Use(best->model.hyperparameters());
  return whole;
}

}  // namespace trainyard::tuning
