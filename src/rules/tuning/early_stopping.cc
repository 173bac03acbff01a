#include "rules/tuning/early_stopping.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <numbers>
#include <optional>
#include <vector>

namespace trainyard::tuning {

namespace {

/// Parameters of the prior, in standard deviations of the final values.
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

/// Source: spec hyperparameter-tuning.md section 9, a rule that is inferred.
constexpr int kCompletedMin = 5;
constexpr std::size_t kReportsMin = 2;
/// A trial is stopped by its curve if its chance to beat the best is smaller than this at two reports in a
/// row. A trial is judged at each of its reports; a chance of one in fifty for each keeps wrong stops near
/// one trial in twenty.
constexpr double kChanceMin = 0.02;
/// A trend needs this many reports.
constexpr std::size_t kCurveReportsMin = 4;
/// A rule compares with at most this many trials, evenly spread: every report of every trial is judged, so it
/// must be cheap.
constexpr std::size_t kTrialsLookedAtMax = 500;

/// The trial's finite reports, larger is better; for each x the last one.
LearningCurve CurveOf(const Trial& trial, bool maximize, bool by_elapsed_time) {
  LearningCurve curve;
  for (const StepReport& one : trial.curve) {
    if (one.values.empty() || !std::isfinite(one.values.front())) continue;
    const double x = by_elapsed_time ? one.elapsed_s : static_cast<double>(one.step);
    if (std::isfinite(x)) curve.push_back({x, maximize ? one.values.front() : -one.values.front()});
  }
  std::ranges::stable_sort(curve, {}, &CurvePoint::x);
  LearningCurve distinct;
  for (const CurvePoint& point : curve) {
    if (!distinct.empty() && distinct.back().x == point.x) distinct.pop_back();
    distinct.push_back(point);
  }
  return distinct;
}

std::optional<double> FinalOf(const Trial& trial, bool maximize) {
  if (trial.state != Trial::State::kCompleted || trial.values.empty()) return std::nullopt;
  const double value = trial.values.front();
  return std::isfinite(value) ? std::optional(maximize ? value : -value) : std::nullopt;
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : values[middle - 1] / 2 + values[middle] / 2;
}

/// Figures are shown with the sign of the user's metric.
struct Words {
  bool maximize;
  bool by_elapsed_time;

  [[nodiscard]] std::string Value(double y) const {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", maximize ? y : -y);
    return text;
  }
  [[nodiscard]] std::string Place(double x) const {
    char text[48];
    std::snprintf(text, sizeof text, by_elapsed_time ? "%.1f s" : "step %.0f", x);
    return text;
  }
};

std::vector<const Trial*> Spread(std::vector<const Trial*> trials) {
  if (trials.size() <= kTrialsLookedAtMax) return trials;
  for (std::size_t i = 0; i < kTrialsLookedAtMax; ++i)
    trials[i] = trials[i * trials.size() / kTrialsLookedAtMax];
  trials.resize(kTrialsLookedAtMax);
  return trials;
}

StoppingVerdict JudgeByMedian(std::span<const Trial> trials, const LearningCurve& pending,
                              const Words& words) {
  if (pending.size() < kReportsMin) return {};
  std::vector<const Trial*> ended;
  for (const Trial& trial : trials) {
    if (trial.state == Trial::State::kCompleted || trial.state == Trial::State::kStoppedEarly)
      ended.push_back(&trial);
  }
  const double x = pending.back().x;
  std::vector<double> averages;
  int completed = 0;
  for (const Trial* trial : Spread(std::move(ended))) {
    const LearningCurve curve = CurveOf(*trial, words.maximize, words.by_elapsed_time);
    const auto average = RunningAverage(curve, x);
    if (!average) continue;
    // A stopped trial counts up to its last point: without it the median of the others would be stricter.
    if (trial->state == Trial::State::kStoppedEarly && curve.back().x < x) continue;
    if (trial->state == Trial::State::kCompleted) ++completed;
    averages.push_back(*average);
  }
  if (completed < kCompletedMin) return {};
  const double best = std::ranges::max_element(pending, {}, &CurvePoint::y)->y;
  const double median = Median(averages);
  if (!(best < median)) return {};
  return {.stop = true,
          .reason = "Its best value up to " + words.Place(x) + ", " + words.Value(best) +
                    ", is worse than the median of the running averages of " +
                    std::to_string(averages.size()) + " trials, " + words.Value(median) + "."};
}

/// Compares with completed trials, which are few if many are stopped.
StoppingVerdict JudgeByCurve(std::span<const Trial> trials, const LearningCurve& pending,
                             const Words& words) {
  if (pending.size() < kCurveReportsMin) return {};
  std::vector<const Trial*> completed;
  std::optional<double> best;
  for (const Trial& trial : trials) {
    const auto final_value = FinalOf(trial, words.maximize);
    if (!final_value) continue;
    best = std::max(best.value_or(*final_value), *final_value);
    completed.push_back(&trial);
  }
  const double own_best = std::ranges::max_element(pending, {}, &CurvePoint::y)->y;
  if (!best || own_best > *best) return {};
  std::vector<EndedCurve> ended;
  for (const Trial* trial : Spread(std::move(completed)))
    ended.push_back(
        {CurveOf(*trial, words.maximize, words.by_elapsed_time), *FinalOf(*trial, words.maximize)});
  const LearningCurve before(pending.begin(), pending.end() - 1);
  const auto now = ForecastFinal(ended, pending);
  const auto last_time = ForecastFinal(ended, before);
  if (!now || !last_time || now->chance >= kChanceMin || last_time->chance >= kChanceMin) return {};
  char chance[32];
  std::snprintf(chance, sizeof chance, "%.2g %%", 100 * now->chance);
  return {.stop = true,
          .reason = "By its curve up to " + words.Place(pending.back().x) + " it would end at about " +
                    words.Value(now->mean) + "; the chance to beat the best value so far, " +
                    words.Value(*best) + ", is " + chance + "."};
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

StoppingVerdict JudgeTrial(const StudySpec& spec, std::span<const Trial> trials, const Trial& pending,
                           StoppingRule rule, bool by_elapsed_time) {
  if (spec.metrics.size() != 1) return {};
  const Words words{.maximize = spec.metrics.front().maximize, .by_elapsed_time = by_elapsed_time};
  const LearningCurve curve = CurveOf(pending, words.maximize, by_elapsed_time);
  if (curve.empty()) return {};
  if (rule != StoppingRule::kDecayCurve) {
    if (StoppingVerdict verdict = JudgeByMedian(trials, curve, words); verdict.stop) return verdict;
  }
  return rule == StoppingRule::kMedian ? StoppingVerdict() : JudgeByCurve(trials, curve, words);
}

}  // namespace trainyard::tuning
