#pragma once

#include <span>
#include <string>
#include <vector>

#include "rules/tuning/space.h"

/// Insights from a study's trials: which parameters matter, and how the best result was found. Pure: any
/// thread.
namespace trainyard::tuning {

struct Insight {
  struct Importance {
    std::string parameter;
    double share = 0;  ///< of the variance that all parameters explain; the sum is 1
    friend bool operator==(const Importance&, const Importance&) = default;
  };
  struct Best {
    int trial = 0;
    double value = 0;
    friend bool operator==(const Best&, const Best&) = default;
  };
  struct Stopped {
    int trial = 0;
    std::string reason;  ///< one sentence
    friend bool operator==(const Stopped&, const Stopped&) = default;
  };
  std::vector<Importance> importances;  ///< most important first
  std::string note;                     ///< why there are none: one sentence
  std::vector<Best> best_so_far;        ///< the trials that set a new best result, in their order
  std::vector<Stopped> stopped;         ///< stopped early; filled in by the caller, who knows the reasons
  Objective metric;
};

/// The minimum number of results for a model; it also needs at least two more than there are parameters.
inline constexpr int kInsightResultsMin = 5;

/// Uses the first metric. Trials of resumed studies (id 0) are evidence, but do not count as best results of
/// this one.
///
/// A parameter's share is its total effect (Sobol's index of first and higher orders) on the mean of the
/// tuner's Gaussian process over the whole space, on the process's own scale of results; shares are the total
/// effects divided by their sum. Deterministic; within a few hundredths. At most about a second.
/// Source: Saltelli et al., Variance based sensitivity analysis of model output (2010), Jansen's estimator.
[[nodiscard]] Insight InsightOf(const StudySpec& spec, std::span<const Trial> trials);

}  // namespace trainyard::tuning
