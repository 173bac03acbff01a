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
/// By x.
using LearningCurve = std::vector<CurvePoint>;

/// The last value at or before x; nothing: there is none.
[[nodiscard]] std::optional<double> ValueAt(const LearningCurve& curve, double x);

/// The mean of all values at or before x; nothing: there is none.
[[nodiscard]] std::optional<double> RunningAverage(const LearningCurve& curve, double x);

/// A curve that went to its end.
struct EndedCurve {
  LearningCurve curve;
  double final_value = 0;
};

/// Completed curves that a regression needs at least.
inline constexpr int kCurvesMin = 10;

struct Forecast {
  double mean = 0;    ///< of the final value
  double chance = 1;  ///< that the final value is larger than the best so far
};

/// What the final value of a curve will be: Bayesian linear regression of the final values of ended curves on
/// their last value and their recent gain at the same x, with conjugate priors (the value stays; nothing is
/// known of the gain), so that the spread is Student's with as many degrees of freedom as there are curves.
/// Values far below the median are cut off: a diverged trial says nothing of how good ones go on.
/// Nothing: fewer than kCurvesMin of the curves go beyond that x, or they all end alike.
[[nodiscard]] std::optional<Forecast> ForecastFinal(std::span<const EndedCurve> ended,
                                                    const LearningCurve& pending);

}  // namespace trainyard::tuning
