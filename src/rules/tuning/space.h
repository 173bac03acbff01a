#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// The search space (parameters and points), and a study: its space, its objectives and its trials. Pure: any
/// thread.
namespace trainyard::tuning {

/// The maximum number of values or categories of a parameter: the tuner compares all pairs.
inline constexpr int kValuesMax = 1000;

/// The scale on which a parameter is searched. Source: spec hyperparameter-tuning.md section 2.
enum class Scale { kLinear, kLog, kReverseLog };

struct Parameter {
  enum class Type { kDouble, kInteger, kDiscrete, kCategorical };
  /// The condition of a parameter that is active only while another one has certain values. Source: studies
  /// API, childParameterSpecs.
  struct Condition {
    int parent = 0;              ///< index in Space::parameters, smaller than this parameter's own
    std::vector<double> values;  ///< coordinates of the parent (see Point)
  };
  std::string name;
  Type type = Type::kDouble;
  Scale scale = Scale::kLinear;  ///< unused for categories
  double min = 0;                ///< kDouble, kInteger
  double max = 1;
  std::vector<double> discrete;         ///< kDiscrete: strictly increasing
  std::vector<std::string> categories;  ///< kCategorical
  std::optional<Condition> condition{};
};

struct Space {
  std::vector<Parameter> parameters;  ///< at least one; checked by jobs::Validate or the studies API
};

/// One number per parameter: the value of a double, integer or discrete one, the index of a category;
/// kInactive for a parameter whose condition does not hold.
using Point = std::vector<double>;
inline constexpr double kInactive = std::numeric_limits<double>::quiet_NaN();

/// The value's text in the API and on the command line: whole integers and discrete values without a point,
/// doubles in the shortest form that parses to the same number, categories unchanged. Not for kInactive.
/// Source: spec hyperparameter-tuning.md section 4.
[[nodiscard]] std::string ValueText(const Parameter& parameter, double value);

/// The number of points in the space; nullopt if a parameter is a double or there are more than 2^53 points.
[[nodiscard]] std::optional<double> CountPoints(const Space& space);

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
