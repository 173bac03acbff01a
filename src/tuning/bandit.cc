#include "tuning/bandit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "tuning/random.h"

namespace trainyard::tuning {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Place = Encoding::Place;

constexpr std::uint64_t kDesignStream = 0x64657369;
constexpr std::uint64_t kSearchStream = 0x73656172;

constexpr double kDesignBase = 3;
constexpr double kDesignPerDimension = 0.5;
constexpr double kDesignShare = 0.25;  // of the planned trials at most
constexpr double kGlobalRows = 300;    // trials that the model of the whole space learns from
constexpr double kLengthMean = 0.4;    // of the prior, times the root of the dimension
constexpr double kLengthDeviation = 0.8;
constexpr double kLocalLengthMean = 0.6;
constexpr double kLogNoiseMin = -18;
constexpr double kFitsMax = 30;
constexpr double kLocalEvery = 2;
constexpr double kLocalRowsFactor = 1.5;  // times the coefficients of a quadratic
constexpr double kLocalRowsMax = 120;
constexpr double kRadiusRank = 1.0;  // times d + 1: the neighbour that is as far as the region goes
constexpr double kRadiusFactor = 1.0;
constexpr double kRadiusMin = 1e-7;
constexpr double kSeeds = 5;
constexpr double kRepeatNoise = 0.05;

Lens LocalLens(const Encoding& encoding, const VectorXd& centre, double radius) {
  Lens lens = Lens::Identity(centre.size());
  const Features& features = encoding.features();
  for (std::size_t c = 0; c < features.numeric.size(); ++c) {
    if (features.numeric[c] == 0) continue;
    const auto column = static_cast<Index>(c);
    lens.scale[column] = 0.5 / radius;
    lens.offset[column] = centre[column] - radius;
  }
  return lens;
}

std::vector<Index> ByLoss(const VectorXd& losses) {
  std::vector<Index> order(static_cast<std::size_t>(losses.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](Index i) { return losses[i]; });
  return order;
}

}  // namespace

struct Bandit::Models {
  struct Fitted {
    GaussianProcess model;
    Lens lens;
    VectorXd values;  // as the model sees them
  };
  MatrixXd features;  // of the evidence's places
  std::vector<Index> order;
  VectorXd losses;
  std::optional<Fitted> global;
  std::optional<Fitted> local;
  double radius = 1;
};

Bandit::Bandit(const StudySpec& spec, const Encoding& encoding)
    : spec_(spec), encoding_(encoding), models_(std::make_unique<Models>()) {}
Bandit::~Bandit() = default;

namespace {

// Points that fill the space evenly: a Halton sequence with its digits permuted.
double Halton(std::uint64_t index, int base, Random& random) {
  std::vector<int> digits(static_cast<std::size_t>(base));
  std::iota(digits.begin(), digits.end(), 0);
  for (int i = base - 1; i > 0; --i) {
    std::swap(digits[static_cast<std::size_t>(i)], digits[static_cast<std::size_t>(random.Below(i + 1))]);
  }
  double value = 0;
  double share = 1;
  for (int i = 0; i < 20 && share > 1e-9; ++i) {
    share /= base;
    value += share * digits[index % static_cast<std::uint64_t>(base)];
    index /= static_cast<std::uint64_t>(base);
  }
  return std::min(value + share * random.Uniform(), 1 - 1e-12);
}

Place DesignPlace(const StudySpec& spec, const Encoding& encoding, std::uint64_t index) {
  constexpr std::array kPrimes{2,  3,  5,  7,  11, 13, 17, 19, 23, 29, 31, 37,
                               41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89};
  Place place(static_cast<Index>(encoding.size()));
  for (std::size_t p = 0; p < encoding.size(); ++p) {
    Random random(spec.seed ^ kDesignStream, p);
    double unit = 0.5;
    if (index > 0) {
      unit = p < kPrimes.size() ? Halton(index, kPrimes[p], random)
                                : Random(spec.seed ^ kDesignStream, (p << 32) + index).Uniform();
    }
    const auto& choices = encoding.Choices(p);
    place[static_cast<Index>(p)] =
        choices.empty() ? unit
                        : choices[static_cast<std::size_t>(unit * static_cast<double>(choices.size()))];
  }
  return place;
}

GaussianProcessOptions Options(const StudySpec& spec, double dimension, double length_mean) {
  GaussianProcessOptions options;
  options.log_length_mean = std::log(length_mean * std::sqrt(dimension));
  options.log_length_deviation = kLengthDeviation;
  options.log_noise_min = spec.noise == Noise::kHigh ? -6 : kLogNoiseMin;
  options.log_noise_max = spec.noise == Noise::kLow ? -12 : 0;
  options.evaluations_max = static_cast<int>(kFitsMax);
  return options;
}

}  // namespace

// The best of models with different warps and kernels.
struct ModelChoice {
  std::optional<GaussianProcess> model;
  VectorXd values;
};

namespace {

ModelChoice FitBest(const Features& features, const MatrixXd& x, const VectorXd& losses,
                    const GaussianProcessOptions& base) {
  ModelChoice best;
  double best_loss = std::numeric_limits<double>::infinity();
  const auto consider = [&](Kernel kernel, double power, const Hyperparameters* start) {
    GaussianProcessOptions options = base;
    options.kernel = kernel;
    const Warped warped = Warp(losses, power);
    GaussianProcess model(features, x, warped.values, options);
    model.Fit(start != nullptr ? *start : model.Default());
    const double loss = model.loss() - warped.log_slope;
    if (best.model && !(loss < best_loss)) return;
    best_loss = loss;
    best.model.emplace(std::move(model));
    best.values = warped.values;
  };
  for (const double power : {1.0, 0.0, 0.5}) consider(Kernel::kMatern52, power, nullptr);
  for (const double power : {1.0, 0.0}) consider(Kernel::kGaussian, power, nullptr);
  return best;
}

double LowestMean(const GaussianProcess& model, const MatrixXd& x) {
  VectorXd mean;
  VectorXd variance;
  model.At(x, mean, variance);
  return mean.minCoeff();
}

}  // namespace

Bandit::Proposal Bandit::Propose(const Evidence& evidence, std::uint64_t index) {
  const auto d = static_cast<double>(encoding_.size());
  const auto n = static_cast<Index>(evidence.places.size());
  double design = std::ceil(kDesignBase + kDesignPerDimension * d);
  if (spec_.trials_planned > 0) design = std::min(design, std::ceil(kDesignShare * spec_.trials_planned));
  if (static_cast<double>(index) < design || n < 3) {
    return {{{DesignPlace(spec_, encoding_, index), 0}}, false};
  }
  Random random(spec_.seed ^ kSearchStream, index);
  MatrixXd features(n, static_cast<Index>(encoding_.features().group.size()));
  for (Index i = 0; i < n; ++i) {
    features.row(i) = encoding_.FeaturesOf(evidence.places[static_cast<std::size_t>(i)]).transpose();
  }
  const std::vector<Index> order = ByLoss(evidence.losses);
  const bool local = index % static_cast<std::uint64_t>(kLocalEvery) == 0;

  std::vector<Index> rows;
  Lens lens = Lens::Identity(features.cols());
  Region region{Place::Zero(static_cast<Index>(encoding_.size())),
                Place::Ones(static_cast<Index>(encoding_.size()))};
  if (local) {
    const Index incumbent = order.front();
    const VectorXd distances = (features.rowwise() - features.row(incumbent)).rowwise().norm();
    const std::vector<Index> near = ByLoss(distances);
    const double wanted = std::min(kLocalRowsMax, kLocalRowsFactor * (d + 1) * (d + 2) / 2);
    const auto taken = std::min(near.size(), static_cast<std::size_t>(wanted));
    rows.assign(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(taken));
    const auto rank = std::min(near.size() - 1, static_cast<std::size_t>(kRadiusRank * (d + 1)));
    const double radius = std::clamp(kRadiusFactor * distances[near[rank]], kRadiusMin, 0.5);
    const Place& centre = evidence.places[static_cast<std::size_t>(incumbent)];
    for (Index p = 0; p < centre.size(); ++p) {
      region.low[p] = std::max(0.0, centre[p] - radius);
      region.high[p] = std::min(1.0, centre[p] + radius);
    }
    lens = LocalLens(encoding_, features.row(incumbent).transpose(), radius);
  } else {
    const auto limit = std::min(order.size(), static_cast<std::size_t>(kGlobalRows));
    rows.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(limit));
  }
  const MatrixXd x = lens.Through(features(rows, Eigen::all));
  const VectorXd losses = evidence.losses(rows);
  ModelChoice choice =
      FitBest(encoding_.features(), x, losses, Options(spec_, d, local ? kLocalLengthMean : kLengthMean));
  GaussianProcess& model = *choice.model;
  Acquisition acquisition;
  acquisition.model = &model;
  acquisition.lens = lens;
  acquisition.best = LowestMean(model, x);
  for (const auto* others : {&evidence.pending, &evidence.infeasible}) {
    for (const Place& place : *others) {
      const VectorXd seen = (encoding_.FeaturesOf(place) - lens.offset).cwiseProduct(lens.scale);
      model.Append(seen, model.At(seen).mean);
    }
  }
  std::vector<Place> seeds;
  for (std::size_t i = 0; i < std::min(order.size(), static_cast<std::size_t>(kSeeds)); ++i) {
    seeds.push_back(evidence.places[static_cast<std::size_t>(order[i])]);
  }
  Proposal proposal;
  proposal.repeats_useful =
      spec_.noise == Noise::kHigh ||
      (spec_.noise == Noise::kUnknown && std::exp(model.hyperparameters().log_noise) > kRepeatNoise);
  proposal.places = Search(encoding_, acquisition, region, seeds, {}, random);
  return proposal;
}

}  // namespace trainyard::tuning
