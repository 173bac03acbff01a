#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rules/tuning/space.h"

/// A study: its space, its objectives and its trials. Pure: any thread.
namespace trainyard::tuning {

struct Objective {
  std::string name;
  bool maximize = true;
};

enum class Algorithm { kDefault, kGrid, kRandom };

/// The user's setting for how much two results at one point differ by chance. kUnknown: it is estimated.
enum class Noise { kUnknown, kLow, kHigh };

struct StudySpec {
  Space space;
  std::vector<Objective> metrics;  ///< one for a tuning job
  Algorithm algorithm = Algorithm::kDefault;
  Noise noise = Noise::kUnknown;
  std::uint64_t seed = 0;
  int trials_planned = 0;  ///< 0: not known
};

/// A trial's report at one step.
struct StepReport {
  std::int64_t step = 0;
  double elapsed_s = 0;        ///< since the trial's start
  std::vector<double> values;  ///< by metric; NaN: not reported
};

struct Trial {
  enum class State {
    kActive,        ///< suggested and not ended: its point is pending
    kCompleted,     ///< `values` are final
    kStoppedEarly,  ///< `values` are not final (censored)
    kInfeasible,    ///< failed, or without a finite value; the tuner avoids its neighbourhood
  };
  int id = 0;  ///< from 1, in the order of suggestion; 0: of a resumed study
  Point point;
  State state = State::kActive;
  std::vector<double> values;     ///< by metric
  std::vector<StepReport> curve;  ///< by step
};

}  // namespace trainyard::tuning
