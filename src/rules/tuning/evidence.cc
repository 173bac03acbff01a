#include "rules/tuning/evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "rules/tuning/random.h"

namespace trainyard::tuning {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::uint64_t kWeightStream = 0x77656967;
constexpr double kSumShare = 0.05;       // of the scalarisation: prefers points that are better in any metric
constexpr double kMagnitudeMax = 1e100;  // keeps squares of differences finite
constexpr double kRatioMax = 1e12;       // of a loss to the median one

bool HasResult(const Trial& trial, std::size_t metrics) {
  if (trial.state != Trial::State::kCompleted && trial.state != Trial::State::kStoppedEarly) return false;
  return metrics > 0 && trial.values.size() >= metrics &&
         std::all_of(trial.values.begin(), trial.values.begin() + static_cast<std::ptrdiff_t>(metrics),
                     [](double value) { return std::isfinite(value); });
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

VectorXd Scalarized(const Eigen::MatrixXd& losses, std::uint64_t seed, std::uint64_t index) {
  Random random(seed ^ kWeightStream, index);
  VectorXd weights(losses.cols());
  for (Index m = 0; m < weights.size(); ++m) weights[m] = -std::log(1 - random.Uniform());
  weights /= weights.sum();
  Eigen::MatrixXd shares = losses;
  for (Index m = 0; m < losses.cols(); ++m) {
    const double low = losses.col(m).minCoeff();
    const double range = losses.col(m).maxCoeff() - low;
    shares.col(m) = (losses.col(m).array() - low) / (range > 0 ? range : 1.0) * weights[m];
  }
  return shares.rowwise().maxCoeff() + kSumShare * shares.rowwise().sum();
}

using Eigen::MatrixXd;

constexpr Index kFitRowsMax = 80;
constexpr int kRefinementsMax = 8;  // evaluations for a model that starts from another one's hyperparameters

struct Candidate {
  GaussianProcess model;
  double power;
  double loss;
};

}  // namespace

Evidence Gather(const StudySpec& spec, const Encoding& encoding, std::span<const Trial> trials,
                std::uint64_t index) {
  Evidence evidence;
  std::vector<const Trial*> told;
  for (const Trial& trial : trials) {
    if (trial.point.size() != encoding.size()) continue;
    if (trial.state == Trial::State::kActive) {
      evidence.pending.push_back(encoding.PlaceOf(trial.point));
    } else if (HasResult(trial, spec.metrics.size())) {
      evidence.places.push_back(encoding.PlaceOf(trial.point));
      told.push_back(&trial);
    } else {
      evidence.infeasible.push_back(encoding.PlaceOf(trial.point));
    }
  }
  const auto n = static_cast<Index>(told.size());
  const auto metrics = static_cast<Index>(spec.metrics.size());
  if (n == 0) return evidence;
  Eigen::MatrixXd losses(n, metrics);
  for (Index i = 0; i < n; ++i) {
    for (Index m = 0; m < metrics; ++m) {
      const auto metric = static_cast<std::size_t>(m);
      const double value = told[static_cast<std::size_t>(i)]->values[metric];
      losses(i, m) = spec.metrics[metric].maximize ? -value : value;
    }
  }
  const double magnitude = losses.cwiseAbs().maxCoeff();
  if (magnitude > kMagnitudeMax) losses /= magnitude;
  evidence.losses = metrics == 1 ? VectorXd(losses.col(0)) : Scalarized(losses, spec.seed, index);

  std::vector<double> completed;
  for (Index i = 0; i < n; ++i) {
    if (told[static_cast<std::size_t>(i)]->state == Trial::State::kCompleted) {
      completed.push_back(evidence.losses[i]);
    }
  }
  if (completed.empty()) return evidence;
  const double median = Median(completed);
  for (Index i = 0; i < n; ++i) {
    if (told[static_cast<std::size_t>(i)]->state == Trial::State::kStoppedEarly) {
      evidence.losses[i] = std::max(evidence.losses[i], median);
    }
  }
  return evidence;
}

Warped Warp(const VectorXd& losses, double power) {
  const double least = losses.minCoeff();
  double unit = Median({losses.begin(), losses.end()}) - least;
  if (!(unit > 0)) unit = losses.maxCoeff() - least;
  if (!(unit > 0)) return {VectorXd::Zero(losses.size()), 0};
  const Eigen::ArrayXd s = ((losses.array() - least) / unit).min(kRatioMax);
  const Eigen::ArrayXd warped = power == 0 ? Eigen::ArrayXd(s.log1p()) : ((s + 1).pow(power) - 1) / power;
  const double mean = warped.mean();
  const double deviation = std::sqrt((warped - mean).square().mean());
  const auto count = static_cast<double>(losses.size());
  return {(warped - mean) / deviation, (power - 1) * s.log1p().sum() - count * std::log(deviation)};
}

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
