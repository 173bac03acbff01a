#pragma once

#include <optional>
#include <span>
#include <vector>

/// Performance curves, larger is better. Pure: any thread.
namespace trainyard::tuning {

struct CurvePoint {
  double x = 0;  ///< step, or seconds since the trial's start
  double y = 0;  ///< finite
  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};
/// Sorted by x.
using LearningCurve = std::vector<CurvePoint>;

/// The last value at or before x; nothing if there is none.
[[nodiscard]] std::optional<double> ValueAt(const LearningCurve& curve, double x);

/// The mean of all values at or before x; nothing if there is none.
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
  double chance = 1;  ///< that the final value is larger than the best so far
};

/// Forecasts the final value of a curve: Bayesian linear regression of the final values of ended curves on
/// their last value and their recent gain at the same x, with conjugate priors (the value stays; the gain is
/// unknown), so the spread is Student's with as many degrees of freedom as curves. Values far below the
/// median are cut off: a diverged trial does not tell how good ones continue. Nothing if fewer than
/// kCurvesMin of the curves reach beyond that x, or if all have the same final value.
[[nodiscard]] std::optional<Forecast> ForecastFinal(std::span<const EndedCurve> ended,
                                                    const LearningCurve& pending);

}  // namespace trainyard::tuning
