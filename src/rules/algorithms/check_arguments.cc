#include "rules/algorithms/check_arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/text/suggestion.h"
#include "rules/algorithms/algorithm.h"
#include "rules/jobs/images.h"
#include "rules/jobs/trial.h"

namespace trainyard::algorithms {
namespace {

using v1::Algorithm;
using v1::Argument;

/// Not in the tables, because the service adds it.
constexpr std::string_view kJobDir = "job-dir";
constexpr double kWholeMax = 9007199254740992.0;  // beyond 2^53 doubles skip whole numbers

Error Bad(std::string message) { return InvalidArgument("args", std::move(message)); }

std::string Normal(std::string_view name) {
  std::string normal(name);
  std::ranges::replace(normal, '-', '_');
  return normal;
}

bool IsSwitch(const Argument& argument) { return argument.type() == "flag" || argument.type() == "bool"; }

std::optional<bool> ReadBool(std::string_view text) {
  const std::string lower = ToLower(text);
  if (lower == "true" || lower == "1") return true;
  if (lower == "false" || lower == "0") return false;
  return std::nullopt;
}

std::optional<double> ReadNumber(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || last != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool IsWhole(double value) { return std::trunc(value) == value && std::abs(value) <= kWholeMax; }

bool IsInRange(const Argument& argument, double value) {
  return (!argument.has_min() || value >= argument.min()) &&
         (!argument.has_max() || value <= argument.max()) &&
         (!argument.has_above() || value > argument.above()) &&
         (!argument.has_below() || value < argument.below());
}

bool IsChoice(const Argument& argument, double value) {
  return argument.choices().empty() ||
         std::ranges::any_of(argument.choices(),
                             [value](const std::string& choice) { return ReadNumber(choice) == value; });
}

bool IsNumber(const Argument& argument, std::string_view text) {
  const std::optional<double> value = ReadNumber(text);
  const bool whole = argument.type() == "int" || argument.type() == "ints";
  return value && (!whole || IsWhole(*value)) && IsInRange(argument, *value) && IsChoice(argument, *value);
}

bool AreNumbers(const Argument& argument, std::string_view text) {
  while (true) {
    const std::size_t comma = text.find(',');
    if (!IsNumber(argument, text.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

bool Takes(const Argument& argument, const std::string& value) {
  const std::string& type = argument.type();
  if (IsSwitch(argument)) return ReadBool(value).has_value();
  if (type == "int" || type == "float") return IsNumber(argument, value);
  if (type == "ints" || type == "floats") return AreNumbers(argument, value);
  if (argument.choices().empty()) return !value.empty();
  return std::ranges::find(argument.choices(), value) != argument.choices().end();
}

/// "a, b and c".
template <class Texts>
std::string Enumerate(const Texts& texts) {
  std::string all;
  for (int i = 0; i < texts.size(); ++i)
    all += (i == 0 ? "" : i + 1 == texts.size() ? std::string(" and ") : ", ") + texts[i];
  return all;
}

std::string DescribeRange(const Argument& argument) {
  std::string low;
  std::string high;
  if (argument.has_min()) low = "of at least " + jobs::MetricText(argument.min());
  if (argument.has_above()) low = "above " + jobs::MetricText(argument.above());
  if (argument.has_max())
    high = (low.empty() ? "of at most " : "at most ") + jobs::MetricText(argument.max());
  if (argument.has_below()) high = "below " + jobs::MetricText(argument.below());
  if (argument.has_min() && argument.has_max())
    return " from " + jobs::MetricText(argument.min()) + " to " + jobs::MetricText(argument.max());
  if (low.empty() && high.empty()) return {};
  return " " + low + (low.empty() || high.empty() ? "" : " and ") + high;
}

std::string Unknown(const Algorithm& algorithm, std::string_view name) {
  std::vector<std::string_view> names = {kJobDir};
  std::string list;
  for (const Argument& argument : algorithm.arguments()) {
    names.push_back(argument.name());
    list += "--" + argument.name() + ", ";
  }
  const std::string_view nearest = text::Suggest(name, names);
  return "The algorithm " + algorithm.name() + " has no argument --" + std::string(name) + ". " +
         (nearest.empty() ? "" : "Did you mean --" + std::string(nearest) + "? ") + "Its arguments are " +
         list + "--" + std::string(kJobDir) + ".";
}

/// The job's values by the argument's name; if there are several, the last one, like the trainer.
using Values = std::map<std::string, std::string>;

/// A token, and whether the next token is its value.
struct ArgumentToken {
  std::string name;
  std::optional<std::string> value;
  bool took_next = false;
};

bool IsArgument(const std::string& token) { return token.starts_with("--"); }

Result<ArgumentToken> ReadToken(const Algorithm& algorithm, const std::string& token,
                                const std::string* next) {
  if (!IsArgument(token) || token.size() == 2)
    return std::unexpected(Bad("'" + token + "' is not an argument of " + algorithm.name() +
                               ": arguments are --NAME=VALUE or --NAME VALUE."));
  const std::size_t equals = token.find('=');
  ArgumentToken given{.name = token.substr(2, equals == std::string::npos ? equals : equals - 2),
                      .value = {}};
  if (equals != std::string::npos) given.value = token.substr(equals + 1);
  const bool is_job_dir = Normal(given.name) == Normal(kJobDir);
  const Argument* argument = FindArgument(algorithm, given.name);
  if (argument == nullptr && !is_job_dir) return std::unexpected(Bad(Unknown(algorithm, given.name)));
  if (!is_job_dir) given.name = argument->name();
  if (given.value) return given;
  if (!is_job_dir && argument->type() == "flag") {
    given.value = "true";
  } else if (next != nullptr && !IsArgument(*next)) {
    given.value = *next;
    given.took_next = true;
  } else {
    return std::unexpected(
        Bad("--" + given.name + " needs a value" + (is_job_dir ? "." : ": " + Describe(*argument) + ".")));
  }
  return given;
}

Result<Values> Read(const Algorithm& algorithm, const std::vector<std::string>& args) {
  Values values;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string* next = i + 1 < args.size() ? &args[i + 1] : nullptr;
    TY_TRY(ArgumentToken given, ReadToken(algorithm, args[i], next));
    if (given.took_next) ++i;
    if (const Argument* argument = FindArgument(algorithm, given.name)) {
      Status good = CheckValue(*argument, *given.value);
      if (!good) return std::unexpected(Bad(good.error().message + "."));
    }
    values[given.name] = *std::move(given.value);
  }
  return values;
}

/// The argument's value or its default; empty if there is neither.
std::string ValueOf(const Algorithm& algorithm, const Values& values, const std::string& name) {
  if (const auto given = values.find(name); given != values.end()) return given->second;
  return DefaultOf(*FindArgument(algorithm, name));
}

bool IsOn(const Algorithm& algorithm, const Values& values, const std::string& name) {
  const std::string value = ValueOf(algorithm, values, name);
  return IsSwitch(*FindArgument(algorithm, name)) ? ReadBool(value).value_or(false) : !value.empty();
}

Status CheckPresence(const Algorithm& algorithm, const Values& values, const Argument& argument) {
  const bool is_given = values.contains(argument.name());
  if (argument.required() && !is_given)
    return std::unexpected(
        Bad("The algorithm " + algorithm.name() + " needs --" + argument.name() + ": " + argument.help()));
  for (const auto& [other, pattern] : argument.required_when()) {
    const std::string value = ValueOf(algorithm, values, other);
    if (!is_given && jobs::MatchesImage(pattern, value))
      return std::unexpected(Bad("--" + other + "=" + value + " needs --" + argument.name() + "."));
  }
  if (is_given && !argument.needs().empty() && !IsOn(algorithm, values, argument.needs()))
    return std::unexpected(Bad("--" + argument.name() + " needs --" + argument.needs() + "."));
  return {};
}

Status CheckSum(const Algorithm& algorithm, const Values& values, const v1::Sum& sum) {
  double total = 0;
  std::vector<std::string> counted;
  for (int i = 0; i < sum.arguments_size(); ++i) {
    const std::string& name = sum.arguments(i);
    const Argument& argument = *FindArgument(algorithm, name);
    if (i < sum.unless_size() && values.contains(sum.unless(i))) continue;
    if (!argument.needs().empty() && !IsOn(algorithm, values, argument.needs())) continue;
    const std::string value = ValueOf(algorithm, values, name);
    total += ReadNumber(value).value_or(0);
    counted.push_back("--" + name + "=" + value + (values.contains(name) ? "" : " (default)"));
  }
  constexpr double kRounding = 1e-9;
  if (total <= sum.max() + kRounding) return {};
  std::string list;
  for (std::size_t i = 0; i < counted.size(); ++i) list += (i == 0 ? "" : " and ") + counted[i];
  return std::unexpected(Bad(list + " are " + jobs::MetricText(total) + " together: at most " +
                             jobs::MetricText(sum.max()) + "."));
}

/// Adds the tuned values as if the job gave them; checks across arguments use the greatest one.
Status AddTuned(const Algorithm& algorithm, const std::vector<TunedArgument>& tuned, Values& values) {
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    const std::string field = "hyperparameters.params[" + std::to_string(i) + "]";
    const Argument* argument = FindArgument(algorithm, tuned[i].name);
    if (argument == nullptr)
      return std::unexpected(InvalidArgument(field + ".parameter_name", Unknown(algorithm, tuned[i].name)));
    for (const std::string& value : tuned[i].values) {
      Status good = CheckValue(*argument, value);
      if (!good) return std::unexpected(InvalidArgument(field, good.error().message + "."));
    }
    if (tuned[i].values.empty()) continue;
    values[argument->name()] = *std::ranges::max_element(
        tuned[i].values, {}, [](const std::string& value) { return ReadNumber(value).value_or(0); });
  }
  return {};
}

}  // namespace

Status CheckArguments(const Algorithm& algorithm, const std::vector<std::string>& args,
                      const std::vector<TunedArgument>& tuned) {
  TY_TRY(Values values, Read(algorithm, args));
  TY_RETURN_IF_ERROR(AddTuned(algorithm, tuned, values));
  for (const Argument& argument : algorithm.arguments())
    TY_RETURN_IF_ERROR(CheckPresence(algorithm, values, argument));
  for (const v1::Sum& sum : algorithm.sums()) TY_RETURN_IF_ERROR(CheckSum(algorithm, values, sum));
  return {};
}

Status CheckValue(const Argument& argument, const std::string& value) {
  if (Takes(argument, value)) return {};
  return std::unexpected(InvalidArgument(
      {}, "--" + argument.name() + " must be " + Describe(argument) + ", not '" + value + "'"));
}

const Argument* FindArgument(const Algorithm& algorithm, std::string_view name) {
  const std::string wanted = Normal(name);
  const auto is_it = [&wanted](const Argument& argument) {
    return Normal(argument.name()) == wanted ||
           std::ranges::find(argument.aliases(), wanted, Normal) != argument.aliases().end();
  };
  const auto found = std::ranges::find_if(algorithm.arguments(), is_it);
  return found == algorithm.arguments().end() ? nullptr : &*found;
}

std::string Describe(const Argument& argument) {
  const std::string& type = argument.type();
  const std::string range = DescribeRange(argument);
  if (IsSwitch(argument)) return "true or false";
  if (!argument.choices().empty()) return "one of " + Enumerate(argument.choices());
  if (type == "int") return "a whole number" + range;
  if (type == "float") return "a number" + range;
  if (type == "ints") return "whole numbers separated by commas" + (range.empty() ? "" : ", each" + range);
  if (type == "floats") return "numbers separated by commas" + (range.empty() ? "" : ", each" + range);
  return type == "path" ? "a path, as gs://BUCKET/FILE" : "a text that is not empty";
}

std::string DefaultOf(const Argument& argument) {
  if (!argument.has_default_()) return {};
  const google::protobuf::Value& value = argument.default_();
  if (value.has_string_value()) return value.string_value();
  if (value.has_bool_value()) return value.bool_value() ? "true" : "false";
  if (!value.has_list_value()) return jobs::MetricText(value.number_value());
  std::string list;
  for (const google::protobuf::Value& item : value.list_value().values())
    list += (list.empty() ? "" : ",") + jobs::MetricText(item.number_value());
  return list;
}

}  // namespace trainyard::algorithms
