#include "rules/tuning/learning_curve.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

namespace trainyard::tuning {

namespace {

/// Of the prior, in standard deviations of the final values.
constexpr double kInterceptPrecision = 0.01;
constexpr double kWeightPrecision = 0.5;
constexpr double kNoiseShape = 1;
constexpr double kNoiseScale = 0.1;
/// Values are cut off if they are further below the median than this times the best value's distance above
/// it.
constexpr double kCutFactor = 3;

/// The scale of values relative to the ended curves.
struct Frame {
  double floor = 0;
  double centre = 0;
  double scale = 0;

  [[nodiscard]] double Cut(double y) const { return std::max(y, floor); }
  [[nodiscard]] double Place(double y) const { return (Cut(y) - centre) / scale; }
};

Frame FrameOf(std::vector<double> finals) {
  std::ranges::sort(finals);
  const double median = finals[finals.size() / 2];
  Frame frame{.floor = median - kCutFactor * (finals.back() - median)};
  double sum = 0;
  double squares = 0;
  for (const double y : finals) sum += frame.Cut(y);
  frame.centre = sum / static_cast<double>(finals.size());
  for (const double y : finals) squares += std::pow(frame.Cut(y) - frame.centre, 2);
  frame.scale = std::sqrt(squares / static_cast<double>(finals.size()));
  return frame;
}

/// The regressors: one, the value at x, and the gain in the second half of the way to x.
Eigen::Vector3d Features(const LearningCurve& curve, double x, const Frame& frame) {
  const double now = frame.Place(*ValueAt(curve, x));
  const double first = curve.front().x;
  const double half = frame.Place(ValueAt(curve, first + (x - first) / 2).value_or(curve.front().y));
  return {1, now, now - half};
}

/// Student's t with the given degrees of freedom: P(T > t). Source: Abramowitz and Stegun 26.7.8.
double UpperTail(double t, double degrees) {
  const double z = t * (1 - 1 / (4 * degrees)) / std::sqrt(1 + t * t / (2 * degrees));
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

}  // namespace

std::optional<double> ValueAt(const LearningCurve& curve, double x) {
  const auto after = std::ranges::upper_bound(curve, x, {}, &CurvePoint::x);
  return after == curve.begin() ? std::nullopt : std::optional(std::prev(after)->y);
}

std::optional<double> RunningAverage(const LearningCurve& curve, double x) {
  double sum = 0;
  double count = 0;
  for (const CurvePoint& point : curve) {
    if (point.x > x) break;
    sum += point.y;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::optional<Forecast> ForecastFinal(std::span<const EndedCurve> ended, const LearningCurve& pending) {
  if (pending.empty()) return std::nullopt;
  const double x = pending.back().x;
  std::vector<const EndedCurve*> longer;
  std::vector<double> finals;
  for (const EndedCurve& one : ended) {
    finals.push_back(one.final_value);
    if (!one.curve.empty() && one.curve.front().x <= x && one.curve.back().x > x) longer.push_back(&one);
  }
  if (longer.size() < kCurvesMin) return std::nullopt;
  const double best = *std::ranges::max_element(finals);
  const Frame frame = FrameOf(std::move(finals));
  if (!(frame.scale > 0) || !std::isfinite(frame.scale)) return std::nullopt;

  Eigen::Matrix3d precision =
      Eigen::Vector3d(kInterceptPrecision, kWeightPrecision, kWeightPrecision).asDiagonal();
  const Eigen::Vector3d prior_mean(0, 1, 0);
  Eigen::Vector3d moment = precision * prior_mean;
  double squares = prior_mean.dot(moment);
  for (const EndedCurve* one : longer) {
    const Eigen::Vector3d features = Features(one->curve, x, frame);
    const double target = frame.Place(one->final_value);
    precision += features * features.transpose();
    moment += features * target;
    squares += target * target;
  }
  const Eigen::LDLT<Eigen::Matrix3d> solver(precision);
  const Eigen::Vector3d weights = solver.solve(moment);
  const double shape = kNoiseShape + static_cast<double>(longer.size()) / 2;
  const double noise = (kNoiseScale + std::max(0.0, squares - weights.dot(moment)) / 2) / shape;
  const Eigen::Vector3d features = Features(pending, x, frame);
  const double spread = std::sqrt(noise * (1 + features.dot(solver.solve(features))));
  const double mean = features.dot(weights);
  if (!std::isfinite(mean) || !(spread > 0)) return std::nullopt;
  return Forecast{.mean = mean * frame.scale + frame.centre,
                  .chance = UpperTail((frame.Place(best) - mean) / spread, 2 * shape)};
}

}  // namespace trainyard::tuning
