#include "rules/tuning/gaussian_process.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "rules/tuning/lbfgs.h"

namespace trainyard::tuning {
namespace {

using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kVarianceFloor = 1e-13;  // share of the prior's; smaller values are rounding errors
constexpr double kSpreadPrior = 1e-12;    // keeps the logarithm of a perfect fit finite
constexpr double kLogLengthMin = -5.0;
constexpr double kLogLengthMax = 5.0;
constexpr double kLogTrendMin = -14.0;
constexpr double kLogTrendMax = 12.0;
constexpr double kLogTrendMean = -2.0;
constexpr double kLogTrendDeviation = 5.0;
constexpr double kLogNoiseDeviation = 6.0;
constexpr Index kOthers = 3;  // hyperparameters besides the length scales
constexpr int kJittersMax = 7;

// Squared distances between the rows of a and those of b.
MatrixXd Distances(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd d = -2.0 * a * b.transpose();
  d.colwise() += a.rowwise().squaredNorm();
  d.rowwise() += b.rowwise().squaredNorm().transpose();
  return d.cwiseMax(0.0);
}

// k, and minus two times its derivative by the squared distance.
void Correlate(Kernel kernel, MatrixXd& distances, MatrixXd* slope) {
  if (kernel == Kernel::kGaussian) {
    distances = (-0.5 * distances.array()).exp();
    if (slope != nullptr) *slope = distances;
    return;
  }
  const ArrayXXd r = (5.0 * distances.array()).sqrt();
  const ArrayXXd e = (-r).exp();
  if (slope != nullptr) *slope = ((5.0 / 3.0) * (1.0 + r) * e).matrix();
  distances = ((1.0 + r * (1.0 + r / 3.0)) * e).matrix();
}

VectorXd Packed(const Hyperparameters& h) {
  VectorXd packed(h.log_length.size() + kOthers);
  packed << h.log_length, h.log_noise, h.log_linear, h.log_quadratic;
  return packed;
}

Hyperparameters Unpacked(const VectorXd& packed) {
  const Index groups = packed.size() - kOthers;
  return {packed.head(groups), packed[groups], packed[groups + 1], packed[groups + 2]};
}

// Adds a Gaussian prior's part to a loss.
double Pull(double value, double mean, double deviation, double& gradient) {
  const double z = (value - mean) / deviation;
  gradient += z / deviation;
  return 0.5 * z * z;
}

// (L L')^-1 b
VectorXd SolveLower(const MatrixXd& lower, const VectorXd& b) {
  const VectorXd half = lower.triangularView<Eigen::Lower>().solve(b);
  return lower.transpose().triangularView<Eigen::Upper>().solve(half);
}

/// A matrix without columns (a trend without numeric features) has no rows to write.
void AppendRow(MatrixXd& matrix, const MatrixXd& row) {
  const Index n = matrix.rows();
  matrix.conservativeResize(n + 1, Eigen::NoChange);
  if (matrix.cols() > 0) matrix.row(n) = row;
}

}  // namespace

GaussianProcess::GaussianProcess(Features features, MatrixXd x, VectorXd y, GaussianProcessOptions options)
    : features_(std::move(features)), x_(std::move(x)), y_(std::move(y)), options_(options) {
  trend_ = Trend(x_);
}

Hyperparameters GaussianProcess::Default() const {
  Hyperparameters h;
  h.log_length = VectorXd::Constant(features_.groups, options_.log_length_mean);
  h.log_noise = std::clamp(-9.0, options_.log_noise_min, options_.log_noise_max);
  h.log_linear = kLogTrendMean;
  h.log_quadratic = kLogTrendMean;
  return h;
}

MatrixXd GaussianProcess::Scaled(const MatrixXd& x, const VectorXd& log_length) const {
  MatrixXd scaled = x;
  for (Index c = 0; c < x.cols(); ++c) {
    scaled.col(c) *= std::exp(-log_length[features_.group[static_cast<std::size_t>(c)]]);
  }
  return scaled;
}

MatrixXd GaussianProcess::Trend(const MatrixXd& x) const {
  MatrixXd trend(x.rows(), std::ranges::count(features_.numeric, 1));
  Index to = 0;
  for (Index c = 0; c < x.cols(); ++c) {
    if (features_.numeric[static_cast<std::size_t>(c)] != 0) {
      trend.col(to++) = 2.0 * x.col(c).array() - 1.0;
    }
  }
  return trend;
}

double GaussianProcess::Loss(const Hyperparameters& h, VectorXd* gradient) const {
  const Index n = x_.rows();
  const MatrixXd z = Scaled(x_, h.log_length);
  MatrixXd k = Distances(z, z);
  MatrixXd slope;
  Correlate(options_.kernel, k, gradient != nullptr ? &slope : nullptr);
  const double noise = std::exp(h.log_noise);
  const double linear = options_.trend ? std::exp(h.log_linear) : 0.0;
  const double quadratic = options_.trend ? std::exp(h.log_quadratic) : 0.0;
  MatrixXd products;
  if (options_.trend) {
    products = trend_ * trend_.transpose();
    k.array() += products.array() * (linear + quadratic * products.array());
  }
  k.diagonal().array() += noise;
  const Eigen::LLT<MatrixXd> factor(k);
  if (factor.info() != Eigen::Success) return kInfinity;
  const MatrixXd inverse =
      gradient != nullptr ? MatrixXd(factor.solve(MatrixXd::Identity(n, n))) : MatrixXd();
  const VectorXd ones = factor.solve(VectorXd::Ones(n));
  VectorXd weights = factor.solve(y_);
  const double mean = weights.sum() / ones.sum();
  weights -= mean * ones;
  const double spread = (y_.array() - mean).matrix().dot(weights) + kSpreadPrior;
  if (!(spread > 0)) return kInfinity;
  const auto count = static_cast<double>(n);
  double loss = 0.5 * count * std::log(spread) + factor.matrixLLT().diagonal().array().log().sum();

  VectorXd pull = VectorXd::Zero(features_.groups + kOthers);
  for (Index g = 0; g < features_.groups; ++g) {
    loss += Pull(h.log_length[g], options_.log_length_mean, options_.log_length_deviation, pull[g]);
  }
  loss += Pull(h.log_noise, options_.log_noise_min, kLogNoiseDeviation, pull[features_.groups]);
  if (options_.trend) {
    loss += Pull(h.log_linear, kLogTrendMean, kLogTrendDeviation, pull[features_.groups + 1]);
    loss += Pull(h.log_quadratic, kLogTrendMean, kLogTrendDeviation, pull[features_.groups + 2]);
  }
  if (gradient == nullptr) return loss;

  *gradient = pull;
  const MatrixXd g = inverse - (count / spread) * weights * weights.transpose();
  const MatrixXd gs = g.cwiseProduct(slope);
  const VectorXd rows = gs.rowwise().sum();
  const MatrixXd gz = gs * z;
  for (Index c = 0; c < z.cols(); ++c) {
    (*gradient)[features_.group[static_cast<std::size_t>(c)]] +=
        rows.dot(z.col(c).cwiseAbs2()) - z.col(c).dot(gz.col(c));
  }
  (*gradient)[features_.groups] += 0.5 * noise * g.trace();
  if (options_.trend) {
    (*gradient)[features_.groups + 1] += 0.5 * linear * g.cwiseProduct(products).sum();
    (*gradient)[features_.groups + 2] += 0.5 * quadratic * g.cwiseProduct(products.cwiseAbs2()).sum();
  }
  return loss;
}

void GaussianProcess::Fit(const Hyperparameters& start) {
  const Index size = features_.groups + kOthers;
  VectorXd low = VectorXd::Constant(size, kLogLengthMin);
  VectorXd high = VectorXd::Constant(size, kLogLengthMax);
  low[features_.groups] = options_.log_noise_min;
  high[features_.groups] = options_.log_noise_max;
  low.tail(2).setConstant(kLogTrendMin);
  high.tail(2).setConstant(kLogTrendMax);
  const CostFunction objective = [this](const VectorXd& packed, VectorXd& gradient) {
    return Loss(Unpacked(packed), &gradient);
  };
  const Minimum minimum = Minimize(objective, Packed(start), low, high,
                                   {.evaluations_max = options_.evaluations_max, .gain_min = 1e-3});
  loss_ = minimum.value;
  Use(Unpacked(minimum.x));
}

bool GaussianProcess::Use(const Hyperparameters& hyperparameters) {
  used_ = hyperparameters;
  linear_ = options_.trend ? std::exp(used_.log_linear) : 0.0;
  quadratic_ = options_.trend ? std::exp(used_.log_quadratic) : 0.0;
  noise_ = std::exp(used_.log_noise);
  scaled_ = Scaled(x_, used_.log_length);
  const MatrixXd k = Cross(scaled_, trend_);
  for (int jitter = 0; jitter <= kJittersMax; ++jitter) {
    MatrixXd noisy = k;
    noisy.diagonal().array() += noise_;
    const Eigen::LLT<MatrixXd> factor(noisy);
    if (factor.info() == Eigen::Success) {
      lower_ = factor.matrixL();
      Solve();
      return true;
    }
    noise_ = std::max(noise_ * 10, 1e-10 * k.diagonal().maxCoeff());
  }
  return false;
}

void GaussianProcess::Solve() {
  ones_ = SolveLower(lower_, VectorXd::Ones(y_.size()));
  weights_ = SolveLower(lower_, y_);
  mean_ = weights_.sum() / ones_.sum();
  weights_ -= mean_ * ones_;
  const double spread = (y_.array() - mean_).matrix().dot(weights_) + kSpreadPrior;
  variance_ = std::max(spread, kSpreadPrior) / static_cast<double>(y_.size());
}

double GaussianProcess::LeastMean() const {
  // K a = y - mean, and the prediction is (K - noise) a + mean.
  return (y_ - noise_ * weights_).minCoeff();
}

double GaussianProcess::noise_variance() const noexcept { return variance_ * noise_; }

MatrixXd GaussianProcess::Cross(const MatrixXd& scaled, const MatrixXd& trend) const {
  MatrixXd k = Distances(scaled_, scaled);
  Correlate(options_.kernel, k, nullptr);
  if (options_.trend) {
    const MatrixXd products = trend_ * trend.transpose();
    k.array() += products.array() * (linear_ + quadratic_ * products.array());
  }
  return k;
}

void GaussianProcess::At(const MatrixXd& x, VectorXd& mean, VectorXd& variance) const {
  const MatrixXd trend = Trend(x);
  const MatrixXd k = Cross(Scaled(x, used_.log_length), trend);
  mean = (k.transpose() * weights_).array() + mean_;
  const VectorXd missing = 1.0 - (k.transpose() * ones_).array();
  const VectorXd own = trend.rowwise().squaredNorm();
  const Eigen::ArrayXd prior = 1.0 + own.array() * (linear_ + quadratic_ * own.array());
  const MatrixXd v = lower_.triangularView<Eigen::Lower>().solve(k);
  const Eigen::ArrayXd left =
      prior - v.colwise().squaredNorm().transpose().array() + missing.array().square() / ones_.sum();
  variance = variance_ * left.max(kVarianceFloor * prior);
}

VectorXd GaussianProcess::MeansAt(const MatrixXd& x) const {
  const MatrixXd k = Cross(Scaled(x, used_.log_length), Trend(x));
  return (k.transpose() * weights_).array() + mean_;
}

Prediction GaussianProcess::At(const VectorXd& x) const {
  VectorXd mean;
  VectorXd variance;
  At(MatrixXd(x.transpose()), mean, variance);
  return {mean[0], variance[0]};
}

Prediction GaussianProcess::At(const VectorXd& x, VectorXd& mean_gradient,
                               VectorXd& variance_gradient) const {
  const MatrixXd row = x.transpose();
  const MatrixXd z = Scaled(row, used_.log_length);
  const MatrixXd trend = Trend(row);
  MatrixXd d = Distances(scaled_, z);
  MatrixXd slope;
  Correlate(options_.kernel, d, &slope);
  VectorXd k = d.col(0);
  VectorXd products;
  VectorXd bend;  // derivative of the trend by the product t.t'
  if (options_.trend) {
    products = trend_ * trend.row(0).transpose();
    k.array() += products.array() * (linear_ + quadratic_ * products.array());
    bend = linear_ + 2.0 * quadratic_ * products.array();
  }
  const double own = trend.row(0).squaredNorm();
  const double prior = 1.0 + own * (linear_ + quadratic_ * own);
  const VectorXd v = lower_.triangularView<Eigen::Lower>().solve(k);
  const VectorXd u = lower_.transpose().triangularView<Eigen::Upper>().solve(v);
  const double missing = 1.0 - ones_.dot(k);
  const double ones_sum = ones_.sum();
  const double left = prior - v.squaredNorm() + missing * missing / ones_sum;
  const VectorXd pull = -2.0 * u - (2.0 * missing / ones_sum) * ones_;  // derivative of `left` by k

  mean_gradient.resize(x.size());
  variance_gradient.resize(x.size());
  const VectorXd mean_slope = weights_.cwiseProduct(slope.col(0));
  const VectorXd pull_slope = pull.cwiseProduct(slope.col(0));
  Index numeric = 0;
  for (Index c = 0; c < x.size(); ++c) {
    // d k / d x = -slope * (z_x - z_i) / length
    const double rate = std::exp(-used_.log_length[features_.group[static_cast<std::size_t>(c)]]);
    const VectorXd gap = (scaled_.col(c).array() - z(0, c)) * rate;
    mean_gradient[c] = mean_slope.dot(gap);
    variance_gradient[c] = pull_slope.dot(gap);
    if (options_.trend && features_.numeric[static_cast<std::size_t>(c)] != 0) {
      const VectorXd rise = 2.0 * bend.cwiseProduct(trend_.col(numeric));
      mean_gradient[c] += weights_.dot(rise);
      variance_gradient[c] += pull.dot(rise) + (linear_ + 2.0 * quadratic_ * own) * 4.0 * trend(0, numeric);
      ++numeric;
    }
  }
  variance_gradient *= variance_;
  if (left < kVarianceFloor * prior) variance_gradient.setZero();
  return {weights_.dot(k) + mean_, variance_ * std::max(left, kVarianceFloor * prior)};
}

void GaussianProcess::Append(const VectorXd& x, double y) {
  const Index n = x_.rows();
  const MatrixXd row = x.transpose();
  const MatrixXd trend = Trend(row);
  const MatrixXd z = Scaled(row, used_.log_length);
  const VectorXd k = Cross(z, trend).col(0);
  const double own = trend.row(0).squaredNorm();
  const double prior = 1.0 + own * (linear_ + quadratic_ * own);
  const VectorXd v = lower_.triangularView<Eigen::Lower>().solve(k);
  const double kept_variance = variance_;
  AppendRow(x_, row);
  AppendRow(scaled_, z);
  AppendRow(trend_, trend);
  y_.conservativeResize(n + 1);
  y_[n] = y;
  lower_.conservativeResize(n + 1, n + 1);
  lower_.col(n).setZero();
  lower_.row(n).head(n) = v.transpose();
  lower_(n, n) = std::sqrt(std::max(prior + noise_ - v.squaredNorm(), noise_ + kVarianceFloor * prior));
  Solve();
  variance_ = kept_variance;
}

}  // namespace trainyard::tuning
