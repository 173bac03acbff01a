#pragma once

#include <span>
#include <string>

#include "rules/tuning/study.h"

namespace trainyard::tuning {

enum class StoppingRule {
  kMedian,         ///< of the running averages, as documented
  kDecayCurve,     ///< regression on the performance curves
  kMedianOrCurve,  ///< either: tuning jobs
};

struct StoppingVerdict {
  bool stop = false;
  std::string reason;  ///< one sentence with the figures; empty: the trial goes on
};

/// Whether a pending trial should be stopped early. It is compared with those of `trials` that have ended;
/// the pending trial itself may be among `trials`. The study has one metric. `by_elapsed_time`: the curves' x
/// axis. Pure: any thread. Source: spec hyperparameter-tuning.md section 9.
[[nodiscard]] StoppingVerdict JudgeTrial(const StudySpec& spec, std::span<const Trial> trials,
                                         const Trial& pending, StoppingRule rule, bool by_elapsed_time);

}  // namespace trainyard::tuning
