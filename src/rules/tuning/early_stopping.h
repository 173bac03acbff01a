#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rules/tuning/space.h"

namespace trainyard::tuning {

// Performance curves, larger is better. Pure: any thread.

struct CurvePoint {
  double x = 0;  ///< step, or seconds since the trial's start
  double y = 0;  ///< finite
  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};
/// Sorted by x.
using LearningCurve = std::vector<CurvePoint>;

/// The last value at or before x; nullopt if there is none.
[[nodiscard]] std::optional<double> ValueAt(const LearningCurve& curve, double x);

/// The mean of all values at or before x; nullopt if there is none.
[[nodiscard]] std::optional<double> RunningAverage(const LearningCurve& curve, double x);

/// A completed curve.
struct EndedCurve {
  LearningCurve curve;
  double final_value = 0;
};

/// A regression needs at least this many completed curves.
inline constexpr int kCurvesMin = 10;

struct Forecast {
  double mean = 0;    ///< of the final value
  double chance = 1;  ///< probability that the final value is larger than the best so far
};

/// Forecasts the final value of a curve: Bayesian linear regression of the final values of ended curves on
/// their last value and their recent gain at the same x, with conjugate priors (the value stays; the gain is
/// unknown), so the spread is Student's with as many degrees of freedom as curves. Values far below the
/// median are clipped: a diverged trial does not tell how good ones continue. Nullopt if fewer than
/// kCurvesMin of the curves reach beyond that x, or if all have the same final value.
[[nodiscard]] std::optional<Forecast> ForecastFinal(std::span<const EndedCurve> ended,
                                                    const LearningCurve& pending);

enum class StoppingRule {
  kMedian,         ///< of the running averages, as documented
  kDecayCurve,     ///< regression on the performance curves
  kMedianOrCurve,  ///< either: tuning jobs
};

struct StoppingVerdict {
  bool stop = false;
  std::string reason;  ///< one sentence with the figures; empty: the trial continues
};

/// Whether a pending trial should be stopped early. It is compared with those of `trials` that have ended;
/// the pending trial itself may be among `trials`. The study has one metric. `by_elapsed_time`: the curves' x
/// axis. Pure: any thread. Source: spec hyperparameter-tuning.md section 9.
[[nodiscard]] StoppingVerdict JudgeTrial(const StudySpec& spec, std::span<const Trial> trials,
                                         const Trial& pending, StoppingRule rule, bool by_elapsed_time);

}  // namespace trainyard::tuning
