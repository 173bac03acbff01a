#include "rules/tuning/bandit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "rules/tuning/encoding.h"
#include "rules/tuning/evidence.h"
#include "rules/tuning/random.h"

namespace trainyard::tuning {

namespace {

constexpr std::uint64_t kDesignStream = 0x64657369;
constexpr std::array kPrimes{2,  3,  5,  7,  11, 13, 17, 19, 23, 29, 31, 37,
                             41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89};
constexpr double kUnitMax = 1 - 1e-12;

double Halton(std::uint64_t index, int base, Random& random) {
  std::vector<int> digits(static_cast<std::size_t>(base));
  std::iota(digits.begin(), digits.end(), 0);
  for (int i = base - 1; i > 0; --i) {
    std::swap(digits[static_cast<std::size_t>(i)], digits[static_cast<std::size_t>(random.Below(i + 1))]);
  }
  double value = 0;
  double share = 1;
  while (share > 1e-9) {
    share /= base;
    value += share * digits[index % static_cast<std::uint64_t>(base)];
    index /= static_cast<std::uint64_t>(base);
  }
  return std::min(value, kUnitMax);
}

/// The index-th point of a sequence that fills the space evenly, starting in the middle: a Halton sequence
/// whose digits are permuted and shifted by the seed (random numbers beyond 24 parameters). Pure: any thread.
Encoding::Place DesignPlace(std::uint64_t seed, const Encoding& encoding, std::uint64_t index) {
  Encoding::Place place(static_cast<Eigen::Index>(encoding.size()));
  for (std::size_t p = 0; p < encoding.size(); ++p) {
    double unit = 0.5;
    if (index > 0 && p < kPrimes.size()) {
      Random permutation(seed ^ kDesignStream, p);
      const double shift = permutation.Uniform();
      unit = std::fmod(Halton(index, kPrimes[p], permutation) + shift, 1.0);
    } else if (index > 0) {
      unit = Random(seed ^ kDesignStream, (p << 32) + index).Uniform();
    }
    const auto& choices = encoding.Choices(p);
    const auto choice = static_cast<std::size_t>(unit * static_cast<double>(choices.size()));
    place[static_cast<Eigen::Index>(p)] = choices.empty() ? unit : choices[choice];
  }
  return place;
}

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Place = Encoding::Place;

constexpr std::uint64_t kSearchStream = 0x73656172;

// The reasons and the measurements behind these are in docs/adr/0018-tuner.md.
constexpr double kDesignBase = 3;
constexpr double kDesignPerParameter = 0.5;
constexpr double kDesignShare = 0.25;  // at most this share of the planned trials
constexpr int kResultsMin = 3;         // the minimum for a model
constexpr int kTurns = 2;              // suggestions in a row, of which kLocalTurns use the local model
constexpr int kLocalTurns = 1;
constexpr double kGlobalRowsMax = 300;    // trials that the model of the whole space uses
constexpr double kLocalRowsFactor = 1.5;  // trials of a local model, times the coefficients of a quadratic
constexpr double kLocalRowsMax = 150;
constexpr double kGlobalLength = 0.4;  // mean of the prior over length scales, times the root of d
constexpr double kLocalLength = 0.6;
constexpr double kLengthDeviation = 0.8;
constexpr double kLogNoiseMin = -18;
constexpr double kLogNoiseHigh = -6;  // lower bound if the user says that results are noisy
constexpr double kLogNoiseLow = -12;  // upper bound if the user says that they are not
constexpr int kFitEvaluations = 14;
constexpr double kRadiusRank = 1.0;  // times d + 1: rank of the neighbour that sets the region's width
constexpr double kRadiusFactor = 1.0;
constexpr double kRadiusMin = 1e-7;
constexpr double kRadiusMax = 0.5;
constexpr double kRadiusConverged = 1e-6;  // below it the local model has one turn in kConvergedTurns
constexpr int kConvergedTurns = 6;
constexpr double kLocalNoiseMax = 0.3;   // share of the variance: above it the neighbourhood is not used
constexpr double kApart = 0.02;          // of the region's width: running trials keep this distance
constexpr double kFeasibleLength = 0.2;  // how far a failure reaches, times the root of d
constexpr Index kOthersMax = 64;         // running and failed trials in the model, of each kind
constexpr int kSeeds = 5;
constexpr double kRepeatNoise = 0.05;  // share of the variance above which a repeated point is useful

std::vector<Index> Ascending(const VectorXd& values) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order,
                    [&](Index a, Index b) { return values[a] != values[b] ? values[a] < values[b] : a < b; });
  return order;
}

GaussianProcessOptions Options(const StudySpec& spec, double dimension, double length) {
  GaussianProcessOptions options;
  options.log_length_mean = std::log(length * std::sqrt(dimension));
  options.log_length_deviation = kLengthDeviation;
  options.log_noise_min = spec.noise == Noise::kHigh ? kLogNoiseHigh : kLogNoiseMin;
  options.log_noise_max = spec.noise == Noise::kLow ? kLogNoiseLow : 0;
  options.evaluations_max = kFitEvaluations;
  return options;
}

// The trials of a model, its coordinates, and its search region.
struct View {
  std::vector<Index> rows;
  Lens lens;
  SearchRegion region;
  double length = 0;
  double radius = 1;
};

}  // namespace

// The models of the last evidence, kept for further suggestions before the next result.
struct Bandit::Models {
  struct FittedModel {
    MatrixXd x;
    VectorXd losses;
    GaussianProcess model;
  };
  std::optional<FittedModel> global;
  std::optional<FittedModel> local;

  const GaussianProcess& Of(const View& view, const StudySpec& spec, const Encoding& encoding,
                            const MatrixXd& features, const VectorXd& all_losses) {
    const MatrixXd x = view.lens.Through(features(view.rows, Eigen::all));
    const VectorXd losses = all_losses(view.rows);
    auto& kept = view.radius < 1 ? local : global;
    if (!kept || kept->losses.size() != losses.size() || kept->losses != losses || kept->x != x) {
      const auto d = static_cast<double>(encoding.size());
      kept.emplace(x, losses, ChooseModel(encoding.features(), x, losses, Options(spec, d, view.length)));
    }
    return kept->model;
  }
};

Bandit::Bandit(const StudySpec& spec, const Encoding& encoding)
    : spec_(spec), encoding_(encoding), models_(std::make_unique<Models>()) {}
Bandit::~Bandit() = default;

namespace {

View GlobalView(const std::vector<Index>& order, Index columns, Index parameters) {
  View view;
  const auto size = static_cast<Index>(order.size());
  const auto limit = static_cast<Index>(kGlobalRowsMax);
  for (const Index rank : HeadAndSpread(size, limit, limit / 3)) {
    view.rows.push_back(order[static_cast<std::size_t>(rank)]);
  }
  view.lens = Lens::Identity(columns);
  view.region = {Place::Zero(parameters), Place::Ones(parameters)};
  view.length = kGlobalLength;
  return view;
}

// The nearest neighbours of the best point, and a box as wide as the distance of the nearest few: it shrinks
// as trials gather there and grows when the best point moves.
View LocalView(const Encoding& encoding, const MatrixXd& features, const MatrixXd& failed,
               const Place& centre, Index incumbent) {
  View view;
  const auto d = static_cast<double>(encoding.size());
  VectorXd distances = (features.rowwise() - features.row(incumbent)).rowwise().norm();
  const std::vector<Index> near = Ascending(distances);
  const double wanted = std::min(kLocalRowsMax, kLocalRowsFactor * (d + 1) * (d + 2) / 2);
  const std::size_t taken = std::min(near.size(), static_cast<std::size_t>(wanted));
  view.rows.assign(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(taken));
  distances.conservativeResize(features.rows() + failed.rows());
  distances.tail(failed.rows()) = (failed.rowwise() - features.row(incumbent)).rowwise().norm();
  std::ranges::sort(distances);
  const Index rank = std::min(distances.size() - 1, static_cast<Index>(kRadiusRank * (d + 1)));
  view.radius = std::clamp(kRadiusFactor * distances[rank], kRadiusMin, kRadiusMax);
  view.region = {(centre.array() - view.radius).max(0.0), (centre.array() + view.radius).min(1.0)};
  view.lens = Lens::Identity(features.cols());
  for (std::size_t c = 0; c < encoding.features().numeric.size(); ++c) {
    if (encoding.features().numeric[c] == 0) continue;
    const auto column = static_cast<Index>(c);
    view.lens.scale[column] = 0.5 / view.radius;
    view.lens.offset[column] = features(incumbent, column) - view.radius;
  }
  view.length = kLocalLength;
  return view;
}

MatrixXd FeaturesOf(const Encoding& encoding, const std::vector<Place>& places) {
  MatrixXd features(static_cast<Index>(places.size()), static_cast<Index>(encoding.features().group.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    features.row(static_cast<Index>(i)) = encoding.FeaturesOf(places[i]).transpose();
  }
  return features;
}

Feasibility FeasibilityOf(const MatrixXd& features, const MatrixXd& failed, double length) {
  Feasibility feasibility;
  if (failed.rows() == 0) return feasibility;
  feasibility.points.resize(features.rows() + failed.rows(), features.cols());
  feasibility.points << features, failed;
  feasibility.failed = VectorXd::Zero(feasibility.points.rows());
  feasibility.failed.tail(failed.rows()).setOnes();
  feasibility.rate = VectorXd::Constant(features.cols(), 1 / length);
  return feasibility;
}

// Selects rows if there are many: the nearest to the best trial and some of the rest, because each costs as
// much as a result.
MatrixXd Some(const MatrixXd& others, const Eigen::RowVectorXd& best) {
  if (others.rows() <= kOthersMax) return others;
  const std::vector<Index> near = Ascending((others.rowwise() - best).rowwise().norm());
  std::vector<Index> some;
  for (const Index rank : HeadAndSpread(others.rows(), kOthersMax, kOthersMax / 2)) {
    some.push_back(near[static_cast<std::size_t>(rank)]);
  }
  return others(some, Eigen::all);
}

double Nearest(const MatrixXd& rows, const VectorXd& features) {
  return rows.rows() == 0 ? std::numeric_limits<double>::infinity()
                          : (rows.rowwise() - features.transpose()).rowwise().squaredNorm().minCoeff();
}

}  // namespace

Bandit::Proposal Bandit::Propose(const Evidence& evidence, std::uint64_t index) {
  const auto d = static_cast<double>(encoding_.size());
  double design = std::ceil(kDesignBase + kDesignPerParameter * d);
  if (spec_.trials_planned > 0) design = std::min(design, std::ceil(kDesignShare * spec_.trials_planned));
  if (static_cast<double>(index) < design || static_cast<int>(evidence.places.size()) < kResultsMin) {
    return {{{DesignPlace(spec_.seed, encoding_, index), 0}}, false};
  }
  const MatrixXd features = FeaturesOf(encoding_, evidence.places);
  if (features.cols() == 0)
    return {{{DesignPlace(spec_.seed, encoding_, index), 0}}, false};  // one point only
  const MatrixXd failed = FeaturesOf(encoding_, evidence.infeasible);
  const MatrixXd pending = FeaturesOf(encoding_, evidence.pending);
  const std::vector<Index> order = Ascending(evidence.losses);
  const auto turn = [&](int turns) { return static_cast<int>(index % static_cast<std::uint64_t>(turns)); };

  View view =
      LocalView(encoding_, features, failed, evidence.places[static_cast<std::size_t>(order[0])], order[0]);
  bool local = view.radius < kRadiusConverged ? turn(kConvergedTurns) == 0 : turn(kTurns) < kLocalTurns;
  if (local) {
    const auto& model = models_->Of(view, spec_, encoding_, features, evidence.losses);
    local = model.noise_variance() < kLocalNoiseMax;
  }
  if (!local) view = GlobalView(order, features.cols(), static_cast<Index>(encoding_.size()));
  GaussianProcess model = models_->Of(view, spec_, encoding_, features, evidence.losses);

  const double reach = kFeasibleLength * std::sqrt(d) * view.radius;
  const Acquisition acquisition{&model, view.lens, FeasibilityOf(features, failed, reach), model.LeastMean()};
  for (const MatrixXd* others : {&pending, &failed}) {
    const MatrixXd seen = view.lens.Through(Some(*others, features.row(order[0])));
    for (Index i = 0; i < seen.rows(); ++i) model.Append(seen.row(i), model.At(VectorXd(seen.row(i))).mean);
  }
  std::vector<Place> seeds;
  for (std::size_t i = 0; i < std::min(order.size(), static_cast<std::size_t>(kSeeds)); ++i) {
    seeds.push_back(evidence.places[static_cast<std::size_t>(order[i])]);
  }
  Random random(spec_.seed ^ kSearchStream, index);
  Proposal proposal;
  proposal.repeats_useful = spec_.noise == Noise::kHigh ||
                            (spec_.noise == Noise::kUnknown && model.noise_variance() > kRepeatNoise);
  proposal.places = Search(encoding_, acquisition, view.region, seeds, {}, random);
  // The best place that is not next to a running trial and is nearer to a trial with a result than to one
  // without.
  const double apart = std::pow(kApart * view.radius, 2);
  const auto first = std::ranges::find_if(proposal.places, [&](const Scored& scored) {
    const VectorXd its = encoding_.FeaturesOf(scored.place);
    return Nearest(pending, its) >= apart &&
           (failed.rows() == 0 || Nearest(failed, its) > Nearest(features, its));
  });
  if (first != proposal.places.end()) std::rotate(proposal.places.begin(), first, first + 1);
  return proposal;
}

}  // namespace trainyard::tuning
