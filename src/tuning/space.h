#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

/// What is searched: parameters and points. Pure: any thread.
namespace trainyard::tuning {

/// Values of a discrete parameter, and categories: the tuner compares all with all.
inline constexpr int kValuesMax = 1000;

/// Where the values of a parameter are dense. Source: spec hyperparameter-tuning.md section 2.
enum class Scale { kLinear, kLog, kReverseLog };

struct Parameter {
  enum class Type { kDouble, kInteger, kDiscrete, kCategorical };
  /// A parameter that counts only while another one has certain values. Source: studies API,
  /// childParameterSpecs.
  struct Condition {
    int parent = 0;              ///< index in Space::parameters, before this one's own
    std::vector<double> values;  ///< coordinates of the parent (see Point)
  };
  std::string name;
  Type type = Type::kDouble;
  Scale scale = Scale::kLinear;  ///< not of categories
  double min = 0;                ///< kDouble, kInteger
  double max = 1;
  std::vector<double> discrete;         ///< kDiscrete: strictly increasing
  std::vector<std::string> categories;  ///< kCategorical
  std::optional<Condition> condition{};
};

struct Space {
  std::vector<Parameter> parameters;  ///< at least one; valid as jobs::Validate and the studies API have it
};

/// One number per parameter: the value of a double, integer or discrete one, the index of a category;
/// kInactive for a parameter whose condition does not hold.
using Point = std::vector<double>;
inline constexpr double kInactive = std::numeric_limits<double>::quiet_NaN();

/// The value as the API and the command line show it: whole integers and discrete values without a point,
/// doubles in the shortest form that reads back the same, categories as they are. Not of kInactive.
/// Source: spec hyperparameter-tuning.md section 4.
[[nodiscard]] std::string ValueText(const Parameter& parameter, double value);

/// How many points the space has; nothing if a double is among the parameters or they are more than 2^53.
[[nodiscard]] std::optional<double> CountPoints(const Space& space);

}  // namespace trainyard::tuning
