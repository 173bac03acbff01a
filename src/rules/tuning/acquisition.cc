#include "rules/tuning/acquisition.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "rules/tuning/lbfgs.h"

namespace trainyard::tuning {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Place = Encoding::Place;

constexpr double kTailStart = -5.0;      // below: the asymptotic series
constexpr double kFeasiblePrior = 0.05;  // assumed results at every point
constexpr double kWorthMin = -12;     // logarithm of the improvement, in standard deviations of the results
constexpr double kFeasiblePower = 5;  // the probability of a result counts this many times, so that the
                                      // search does not cross the border of failures
constexpr std::array kSpreads{0.2, 0.05, 0.01, 0.002};  // of places around a seed, as a share of the region
constexpr double kCoordinatesMoved = 4;                 // of a seed, on average
constexpr int kRounds = 2;  // of moving the continuous coordinates and choosing the others

}  // namespace

LogImprovement LogExpectedImprovement(double z) {
  const double log_density = -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi);
  if (z < kTailStart) {
    const double q = 1 / (z * z);
    const double h = q * (1 - q * (3 - q * (15 - q * 105)));
    const double tail = -(1 - q * (1 - q * (3 - q * 15))) / z;  // cdf / pdf
    return {log_density + std::log(h), tail / h};
  }
  const double density = std::exp(log_density);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  const double h = density + z * below;
  return {std::log(h), below / h};
}

Lens Lens::Identity(Index columns) { return {VectorXd::Zero(columns), VectorXd::Ones(columns)}; }

MatrixXd Lens::Through(const MatrixXd& rows) const {
  return (rows.rowwise() - offset.transpose()).array().rowwise() * scale.transpose().array();
}

double Feasibility::LogProbability(const VectorXd& features, VectorXd* gradient) const {
  if (points.rows() == 0) return 0;
  const MatrixXd gap = (points.rowwise() - features.transpose()).array().rowwise() * rate.transpose().array();
  const VectorXd weight = (-0.5 * gap.rowwise().squaredNorm().array()).exp();
  const VectorXd fine = weight.array() * (1 - failed.array());
  const double all = weight.sum() + kFeasiblePrior;
  const double good = fine.sum() + kFeasiblePrior;
  if (gradient != nullptr) {
    const VectorXd pull = fine / good - weight / all;
    *gradient += kFeasiblePower * (gap.transpose() * pull).cwiseProduct(rate);
  }
  return kFeasiblePower * std::log(good / all);
}

namespace {

// If no trial failed, the worth is the logarithm of the improvement, however small. Otherwise smaller values
// are cut off here: otherwise a confident model would accept a hundred failures before searching where it
// expects no improvement.
LogImprovement AtLeast(double log_improvement, bool failures) {
  if (!failures) return {log_improvement, 1};
  const double top = std::max(log_improvement, kWorthMin);
  const double sum = std::exp(log_improvement - top) + std::exp(kWorthMin - top);
  return {top + std::log(sum), std::exp(log_improvement - top) / sum};
}

}  // namespace

VectorXd Acquisition::Of(const MatrixXd& features) const {
  VectorXd mean;
  VectorXd variance;
  model->At(lens.Through(features), mean, variance);
  VectorXd value(features.rows());
  for (Index i = 0; i < value.size(); ++i) {
    const double deviation = std::sqrt(variance[i]);
    const double worth = std::log(deviation) + LogExpectedImprovement((best - mean[i]) / deviation).value;
    value[i] = AtLeast(worth, feasibility.points.rows() > 0).value +
               feasibility.LogProbability(features.row(i).transpose(), nullptr);
  }
  return value;
}

double Acquisition::Of(const VectorXd& features, VectorXd& gradient) const {
  VectorXd mean_gradient;
  VectorXd variance_gradient;
  const VectorXd seen = (features - lens.offset).cwiseProduct(lens.scale);
  const Prediction p = model->At(seen, mean_gradient, variance_gradient);
  const double deviation = std::sqrt(p.variance);
  const double z = (best - p.mean) / deviation;
  const LogImprovement improvement = LogExpectedImprovement(z);
  const VectorXd deviation_gradient = variance_gradient / (2 * deviation);
  gradient = deviation_gradient / deviation +
             improvement.slope * (-mean_gradient - z * deviation_gradient) / deviation;
  const LogImprovement worth =
      AtLeast(std::log(deviation) + improvement.value, feasibility.points.rows() > 0);
  gradient = worth.slope * gradient.cwiseProduct(lens.scale);
  return worth.value + feasibility.LogProbability(features, &gradient);
}

namespace {

class Searcher {
 public:
  Searcher(const Encoding& encoding, const Acquisition& acquisition, const SearchRegion& region)
      : encoding_(encoding), acquisition_(acquisition), region_(region) {}

  void Draw(const std::vector<Place>& seeds, const SearchEffort& limits, Random& random) {
    for (const Place& seed : seeds) drawn_.push_back(Inside(seed));
    for (int i = 0; i < limits.random; ++i) {
      Place place = encoding_.RandomPlace(random);
      for (Index p = 0; p < place.size(); ++p) {
        if (encoding_.IsCategory(static_cast<std::size_t>(p))) continue;
        place[p] = region_.low[p] + place[p] * (region_.high[p] - region_.low[p]);
      }
      drawn_.push_back(Inside(place));
    }
    for (int i = 0; i < limits.near && !seeds.empty(); ++i) {
      drawn_.push_back(Near(seeds[static_cast<std::size_t>(i) % seeds.size()], random));
    }
  }

  std::vector<Scored> Best(const SearchEffort& limits) {
    MatrixXd features(static_cast<Index>(drawn_.size()),
                      static_cast<Index>(encoding_.features().group.size()));
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      features.row(static_cast<Index>(i)) = encoding_.FeaturesOf(drawn_[i]).transpose();
    }
    const VectorXd values = acquisition_.Of(features);
    std::vector<Scored> scored;
    for (std::size_t i = 0; i < drawn_.size(); ++i)
      scored.push_back({drawn_[i], values[static_cast<Index>(i)]});
    const auto better = [](const Scored& a, const Scored& b) { return a.value > b.value; };
    std::ranges::stable_sort(scored, better);
    const std::size_t polished = std::min(scored.size(), static_cast<std::size_t>(limits.polished));
    for (std::size_t i = 0; i < polished; ++i) Polish(scored[i], limits.steps);
    std::ranges::stable_sort(scored, better);
    return scored;
  }

 private:
  Place Inside(const Place& place) const {
    Place inside = place;
    for (Index p = 0; p < place.size(); ++p) {
      if (encoding_.IsCategory(static_cast<std::size_t>(p))) continue;
      inside[p] = std::clamp(place[p], region_.low[p], region_.high[p]);
    }
    return inside;
  }

  Place Near(const Place& seed, Random& random) const {
    Place place = seed;
    const double share = std::min(1.0, kCoordinatesMoved / static_cast<double>(seed.size()));
    const double spread = kSpreads[static_cast<std::size_t>(random.Below(kSpreads.size()))];
    for (Index p = 0; p < place.size(); ++p) {
      if (random.Uniform() > share) continue;
      const auto parameter = static_cast<std::size_t>(p);
      if (!encoding_.IsContinuous(parameter)) {
        place[p] = encoding_.RandomCoordinate(parameter, random);
      } else {
        place[p] += random.Normal() * spread * (region_.high[p] - region_.low[p]);
      }
    }
    return Inside(place);
  }

  // Alternates: continuous coordinates by the gradient, then the others one by one through their choices.
  void Polish(Scored& scored, int steps) const {
    for (int round = 0; round < kRounds; ++round) {
      MoveFreely(scored, steps);
      if (!Choose(scored)) return;
    }
  }

  void MoveFreely(Scored& scored, int steps) const {
    std::vector<Index> free;
    for (std::size_t p = 0; p < encoding_.size(); ++p) {
      const auto index = static_cast<Index>(p);
      if (encoding_.IsContinuous(p) && region_.high[index] > region_.low[index]) free.push_back(index);
    }
    if (free.empty()) return;
    Place place = scored.place;
    const CostFunction objective = [&](const VectorXd& x, VectorXd& gradient) {
      place(free) = x;
      VectorXd by_column;
      const double value = acquisition_.Of(encoding_.FeaturesOf(place), by_column);
      gradient.resize(x.size());
      for (Index i = 0; i < x.size(); ++i) {
        const auto parameter = static_cast<std::size_t>(free[static_cast<std::size_t>(i)]);
        gradient[i] = -by_column[encoding_.Column(parameter)];
      }
      return -value;
    };
    const Minimum minimum = Minimize(objective, scored.place(free), region_.low(free), region_.high(free),
                                     {.evaluations_max = steps, .gain_min = 1e-4});
    if (-minimum.value < scored.value) return;
    scored.place(free) = minimum.x;
    scored.value = -minimum.value;
  }

  bool Choose(Scored& scored) const {
    bool moved = false;
    for (std::size_t p = 0; p < encoding_.size(); ++p) {
      const auto index = static_cast<Index>(p);
      const auto& choices = encoding_.Choices(p);
      MatrixXd rows(static_cast<Index>(choices.size()),
                    static_cast<Index>(encoding_.features().group.size()));
      Place place = scored.place;
      for (std::size_t i = 0; i < choices.size(); ++i) {
        place[index] = choices[i];
        rows.row(static_cast<Index>(i)) = encoding_.FeaturesOf(Inside(place)).transpose();
      }
      if (choices.size() < 2) continue;
      Index best = 0;
      const double value = acquisition_.Of(rows).maxCoeff(&best);
      if (!(value > scored.value)) continue;
      scored.place[index] = choices[static_cast<std::size_t>(best)];
      scored.place = Inside(scored.place);
      scored.value = value;
      moved = true;
    }
    return moved;
  }

  const Encoding& encoding_;
  const Acquisition& acquisition_;
  const SearchRegion& region_;
  std::vector<Place> drawn_;
};

}  // namespace

std::vector<Scored> Search(const Encoding& encoding, const Acquisition& acquisition,
                           const SearchRegion& region, const std::vector<Place>& seeds,
                           const SearchEffort& limits, Random& random) {
  Searcher searcher(encoding, acquisition, region);
  searcher.Draw(seeds, limits, random);
  return searcher.Best(limits);
}

}  // namespace trainyard::tuning
