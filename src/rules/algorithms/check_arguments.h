#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "trainyard/algorithms/v1/algorithm.pb.h"

/// Checks a job's arguments for an algorithm when the job is created, before its environment is built. The
/// trainer's arguments.py uses the same table; algorithms/tests/argument_cases.json tests both. Pure: any
/// thread.
namespace trainyard::algorithms {

/// An argument that a tuner sets.
struct TunedArgument {
  std::string name;                   ///< without dashes
  std::vector<std::string> values{};  ///< all possible values, or the ends of the range
};

/// `args` are the job's, `--NAME=VALUE`, `--NAME VALUE` or `--FLAG`; a tuned argument may be missing.
/// `--job-dir` is accepted: every trainer has it. kInvalidArgument, field "args", or
/// "hyperparameters.params[I]" for the I-th tuned one: an unknown name (with the nearest one and the list), a
/// value that is missing, of another type or out of range, a required argument that is absent.
[[nodiscard]] Status CheckArguments(const v1::Algorithm& algorithm, const std::vector<std::string>& args,
                                    const std::vector<TunedArgument>& tuned = {});

/// Checks one value of an argument. kInvalidArgument without a field: "--max_steps must be a whole number of
/// at least 1, not 'x'".
[[nodiscard]] Status CheckValue(const v1::Argument& argument, const std::string& value);

/// The argument with that name or alias; '-' and '_' are equivalent. Null if there is none.
[[nodiscard]] const v1::Argument* FindArgument(const v1::Algorithm& algorithm, std::string_view name);

/// Describes the valid values: "a whole number of at least 1", "one of adam, ftrl and sgd".
[[nodiscard]] std::string Describe(const v1::Argument& argument);

/// Its default as a command-line value: "0.001", "true", "30,30,30"; empty: none.
[[nodiscard]] std::string DefaultOf(const v1::Argument& argument);

}  // namespace trainyard::algorithms
