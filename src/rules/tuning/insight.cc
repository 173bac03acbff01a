#include "rules/tuning/insight.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "rules/tuning/encoding.h"
#include "rules/tuning/evidence.h"
#include "rules/tuning/random.h"

namespace trainyard::tuning {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kRowsMax = 300;  // trials that the model uses, like the tuner's model
constexpr double kLength = 0.4;  // as the tuner's model of the whole space: docs/adr/0018-tuner.md
constexpr double kLengthDeviation = 0.8;
constexpr double kLogNoiseMin = -18;
constexpr int kFitEvaluations = 40;
constexpr double kSignalMin =
    0.1;  // share of the variance that is not noise: with less, there is no explanation
constexpr std::uint64_t kSampleStream = 0x736f626f;
constexpr double kSamplesMax = 2048;  // pairs of points
constexpr double kSamplesMin = 16;
constexpr double kWorkMax = 1e9;  // samples x parameters x rows x columns

/// The spec with only its first metric.
StudySpec FirstMetric(StudySpec spec) {
  spec.metrics.resize(std::min<std::size_t>(1, spec.metrics.size()));
  return spec;
}

GaussianProcess ModelOf(const Encoding& encoding, const Evidence& evidence) {
  std::vector<Index> order(static_cast<std::size_t>(evidence.losses.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, [&](Index a, Index b) {
    return std::pair(evidence.losses[a], a) < std::pair(evidence.losses[b], b);
  });
  const auto size = static_cast<Index>(order.size());
  const std::vector<Index> ranks = HeadAndSpread(size, kRowsMax, kRowsMax / 3);
  MatrixXd x(static_cast<Index>(ranks.size()), static_cast<Index>(encoding.features().group.size()));
  VectorXd losses(x.rows());
  for (Index row = 0; row < x.rows(); ++row) {
    const Index trial = order[static_cast<std::size_t>(ranks[static_cast<std::size_t>(row)])];
    x.row(row) = encoding.FeaturesOf(evidence.places[static_cast<std::size_t>(trial)]).transpose();
    losses[row] = evidence.losses[trial];
  }
  GaussianProcessOptions options;
  options.log_length_mean = std::log(kLength * std::sqrt(static_cast<double>(encoding.size())));
  options.log_length_deviation = kLengthDeviation;
  options.log_noise_min = kLogNoiseMin;
  options.evaluations_max = kFitEvaluations;
  return ChooseModel(encoding.features(), x, losses, options);
}

Index SamplesFor(const Encoding& encoding, const GaussianProcess& model) {
  const auto columns = static_cast<double>(encoding.features().group.size());
  const double work = static_cast<double>(encoding.size() + 1) * static_cast<double>(model.size()) * columns;
  return static_cast<Index>(std::clamp(kWorkMax / work, kSamplesMin, kSamplesMax));
}

MatrixXd Features(const Encoding& encoding, const std::vector<Encoding::Place>& places) {
  MatrixXd features(static_cast<Index>(places.size()), static_cast<Index>(encoding.features().group.size()));
  for (std::size_t i = 0; i < places.size(); ++i)
    features.row(static_cast<Index>(i)) = encoding.FeaturesOf(places[i]).transpose();
  return features;
}

double Variance(const VectorXd& values) { return (values.array() - values.mean()).square().mean(); }

/// Half the mean square of the change when only one parameter changes, by parameter; and the total variance.
struct Effects {
  std::vector<double> totals;
  double variance = 0;
};

Effects EffectsOf(const Encoding& encoding, const GaussianProcess& model) {
  Random random(0, kSampleStream);
  std::vector<Encoding::Place> points;
  std::vector<Encoding::Place> others;
  for (Index i = SamplesFor(encoding, model); i > 0; --i) {
    points.push_back(encoding.RandomPlace(random));
    others.push_back(encoding.RandomPlace(random));
  }
  const VectorXd at_points = model.MeansAt(Features(encoding, points));
  Effects effects{.totals = {}, .variance = Variance(at_points)};
  for (std::size_t parameter = 0; parameter < encoding.size(); ++parameter) {
    std::vector<Encoding::Place> changed = points;
    const auto coordinate = static_cast<Index>(parameter);
    for (std::size_t i = 0; i < changed.size(); ++i) changed[i][coordinate] = others[i][coordinate];
    const VectorXd difference = at_points - model.MeansAt(Features(encoding, changed));
    effects.totals.push_back(difference.squaredNorm() / (2 * static_cast<double>(difference.size())));
  }
  return effects;
}

/// Why there is no model; empty: there is one.
std::string WhyNoModel(const StudySpec& spec, const Evidence& evidence) {
  if (spec.metrics.empty()) return "The study has no metric.";
  const auto results = static_cast<int>(evidence.places.size());
  const int needed = std::max(kInsightResultsMin, static_cast<int>(spec.space.parameters.size()) + 2);
  if (results < needed)
    return "Shown after " + std::to_string(needed) + " trials with results; there are " +
           std::to_string(results) + ".";
  if (evidence.losses.maxCoeff() <= evidence.losses.minCoeff()) return "All results are equal.";
  return {};
}

void AddImportances(const StudySpec& spec, const Encoding& encoding, const Evidence& evidence,
                    Insight& insight) {
  const GaussianProcess model = ModelOf(encoding, evidence);
  const Effects effects = EffectsOf(encoding, model);
  const double sum = std::accumulate(effects.totals.begin(), effects.totals.end(), 0.0);
  if (!(sum > 0) || !(effects.variance >= kSignalMin * (effects.variance + model.noise_variance()))) {
    insight.note = "The results differ as if by chance: no parameter explains them.";
    return;
  }
  for (std::size_t i = 0; i < effects.totals.size(); ++i)
    insight.importances.push_back({spec.space.parameters[i].name, effects.totals[i] / sum});
  std::ranges::stable_sort(insight.importances, std::ranges::greater{}, &Insight::Importance::share);
}

std::vector<Insight::Best> BestSoFar(const StudySpec& spec, std::span<const Trial> trials) {
  std::vector<Insight::Best> best;
  for (const Trial& trial : trials) {
    if (trial.id == 0 || trial.state != Trial::State::kCompleted || trial.values.empty()) continue;
    const double value = trial.values.front();
    if (!std::isfinite(value)) continue;
    const bool maximize = spec.metrics.front().maximize;
    if (best.empty() || (maximize ? value > best.back().value : value < best.back().value))
      best.push_back({trial.id, value});
  }
  return best;
}

}  // namespace

Insight InsightOf(const StudySpec& study, std::span<const Trial> trials) {
  const StudySpec spec = FirstMetric(study);
  Insight insight;
  if (!spec.metrics.empty()) {
    insight.metric = spec.metrics.front();
    insight.best_so_far = BestSoFar(spec, trials);
  }
  const Encoding encoding(spec.space);
  const Evidence evidence = Gather(spec, encoding, trials, 0);
  insight.note = WhyNoModel(spec, evidence);
  if (insight.note.empty()) AddImportances(spec, encoding, evidence, insight);
  return insight;
}

}  // namespace trainyard::tuning
