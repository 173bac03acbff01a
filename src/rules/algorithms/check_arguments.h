#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "trainyard/algorithms/v1/algorithm.pb.h"

/// Whether an algorithm takes what a job gives it: asked when the job is created, not when its environment
/// was built. The trainer's arguments.py reads by the same table; algorithms/tests/argument_cases.json is
/// tried with both. Pure: any thread.
namespace trainyard::algorithms {

/// What a tuner gives an argument.
struct TunedArgument {
  std::string name;                   ///< without dashes
  std::vector<std::string> values{};  ///< each that it may get, or the ends of its range
};

/// `args` are the job's, `--NAME=VALUE`, `--NAME VALUE` or `--FLAG`; a tuned argument need not be among them.
/// `--job-dir` is accepted: every trainer has it. kInvalidArgument, field "args", or
/// "hyperparameters.params[I]" for the I-th tuned one: an unknown name (with the nearest one and the list), a
/// value that is missing, of another type or out of range, a required argument that is absent.
[[nodiscard]] Status CheckArguments(const v1::Algorithm& algorithm, const std::vector<std::string>& args,
                                    const std::vector<TunedArgument>& tuned = {});

/// One value of an argument. kInvalidArgument without a field: "--max_steps must be a whole number of at
/// least 1, not 'x'".
[[nodiscard]] Status CheckValue(const v1::Argument& argument, const std::string& value);

/// The argument of that name or alias, '-' and '_' being the same; null if there is none.
[[nodiscard]] const v1::Argument* FindArgument(const v1::Algorithm& algorithm, std::string_view name);

/// "a whole number of at least 1", "one of adam, ftrl and sgd": what it takes.
[[nodiscard]] std::string Describe(const v1::Argument& argument);

/// Its default as a value is written: "0.001", "true", "30,30,30"; empty: none.
[[nodiscard]] std::string DefaultOf(const v1::Argument& argument);

}  // namespace trainyard::algorithms
