#include "stores/studies/trial_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/wire/time.h"
#include "rules/tuning/values.h"

namespace trainyard::studies {
namespace {

using tuning::Parameter;
using Value = ml::v1::Trial::Parameter;

std::unexpected<Error> Invalid(const std::string& field, std::string text) {
  return std::unexpected(InvalidArgument(field, std::move(text)));
}

struct Kind {
  Value::ValueCase value;
  const char* field;
};

Kind KindOf(Parameter::Type type) {
  switch (type) {
    case Parameter::Type::kDouble:
    case Parameter::Type::kDiscrete: return {Value::kFloatValue, "float_value"};
    case Parameter::Type::kInteger: return {Value::kIntValue, "int_value"};
    case Parameter::Type::kCategorical: break;
  }
  return {Value::kStringValue, "string_value"};
}

/// -1 for an unknown category: no parameter has that value.
double Coordinate(const Parameter& parameter, const Value& given) {
  if (given.has_float_value()) return given.float_value();
  if (given.has_int_value()) return static_cast<double>(given.int_value());
  const auto found = std::ranges::find(parameter.categories, given.string_value());
  return found == parameter.categories.end() ? -1 : static_cast<double>(found - parameter.categories.begin());
}

Result<double> Read(const Parameter& parameter, const Value& given, const std::string& at) {
  const Kind kind = KindOf(parameter.type);
  const std::string field = at + "." + kind.field;
  if (given.value_case() != kind.value)
    return Invalid(field, "The value of '" + parameter.name + "' must be given in this field.");
  const double coordinate = Coordinate(parameter, given);
  if (!tuning::HasValue(parameter, coordinate))
    return Invalid(field, "The value is not one that '" + parameter.name + "' may have.");
  return coordinate;
}

/// The request's parameters: their indices by name.
using Places = std::map<std::string_view, int>;

Result<Places> PlacesOf(const ml::v1::Trial& trial) {
  Places places;
  for (int i = 0; i < trial.parameters_size(); ++i) {
    if (!places.emplace(trial.parameters(i).parameter(), i).second)
      return Invalid("trial.parameters[" + std::to_string(i) + "].parameter",
                     "The parameter '" + trial.parameters(i).parameter() + "' is given twice.");
  }
  return places;
}

}  // namespace

Status SetParameters(const tuning::Space& space, const tuning::Point& point, ml::v1::Trial& trial) {
  if (point.size() != space.parameters.size())
    return std::unexpected(Internal("The suggested point is of another space."));
  trial.clear_parameters();
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (!tuning::IsActive(space, point, i)) continue;
    const Parameter& parameter = space.parameters[i];
    if (!tuning::HasValue(parameter, point[i]))
      return std::unexpected(
          Internal("The suggested value is not one that '" + parameter.name + "' may have."));
    Value& value = *trial.add_parameters();
    value.set_parameter(parameter.name);
    switch (parameter.type) {
      case Parameter::Type::kDouble:
      case Parameter::Type::kDiscrete: value.set_float_value(point[i]); break;
      case Parameter::Type::kInteger: value.set_int_value(static_cast<std::int64_t>(point[i])); break;
      case Parameter::Type::kCategorical:
        value.set_string_value(parameter.categories[static_cast<std::size_t>(point[i])]);
        break;
    }
  }
  return {};
}

Result<tuning::Point> PointOf(const tuning::Space& space, const ml::v1::Trial& trial) {
  TY_TRY(Places places, PlacesOf(trial));
  tuning::Point point(space.parameters.size(), tuning::kInactive);
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (!tuning::IsActive(space, point, i)) continue;
    const Parameter& parameter = space.parameters[i];
    const auto place = places.find(parameter.name);
    if (place == places.end())
      return Invalid("trial.parameters", "The parameter '" + parameter.name + "' is missing.");
    TY_TRY(point[i], Read(parameter, trial.parameters(place->second),
                          "trial.parameters[" + std::to_string(place->second) + "]"));
    places.erase(place);
  }
  if (places.empty()) return point;
  const auto [name, place] = *std::ranges::min_element(places, {}, &Places::value_type::second);
  const bool known = std::ranges::find(space.parameters, name, &Parameter::name) != space.parameters.end();
  return Invalid("trial.parameters[" + std::to_string(place) + "].parameter",
                 known ? "The parameter '" + std::string(name) + "' does not count with its parent's value."
                       : "The study has no parameter '" + std::string(name) + "'.");
}

std::vector<double> ValuesOf(const tuning::StudySpec& spec, const ml::v1::Measurement& measurement) {
  std::vector<double> values(spec.metrics.size(), std::numeric_limits<double>::quiet_NaN());
  for (const ml::v1::Measurement::Metric& metric : measurement.metrics()) {
    const auto found = std::ranges::find(spec.metrics, metric.metric(), &tuning::Objective::name);
    if (found != spec.metrics.end())
      values[static_cast<std::size_t>(found - spec.metrics.begin())] = metric.value();
  }
  return values;
}

Result<tuning::Trial> ToTuning(const tuning::StudySpec& spec, const ml::v1::Trial& trial, int id,
                               bool stopped) {
  TY_TRY(tuning::Point point, PointOf(spec.space, trial));
  tuning::Trial made;
  made.id = id;
  made.point = std::move(point);
  for (const ml::v1::Measurement& measurement : trial.measurements()) {
    const std::chrono::duration<double> elapsed = wire::FromProto(measurement.elapsed_time());
    made.curve.push_back({.step = measurement.step_count(),
                          .elapsed_s = elapsed.count(),
                          .values = ValuesOf(spec, measurement)});
  }
  if (trial.state() != ml::v1::Trial::COMPLETED) return made;
  made.values = ValuesOf(spec, trial.final_measurement());
  const bool finite = std::ranges::all_of(made.values, [](double value) { return std::isfinite(value); });
  made.state = trial.trial_infeasible() || !finite ? tuning::Trial::State::kInfeasible
               : stopped                           ? tuning::Trial::State::kStoppedEarly
                                                   : tuning::Trial::State::kCompleted;
  return made;
}

}  // namespace trainyard::studies
