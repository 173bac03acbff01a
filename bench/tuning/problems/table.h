#pragma once

#include <cstdint>
#include <memory>

#include "tuning/problems/problem.h"

/// Real training jobs whose every combination of hyperparameters was run and written down. The folder that
/// TUNING_TABLES names has them (bench/tuning/tables.py writes it), FUNCTION.txt each:
///   the space, as SpaceText has it: lists only, discrete values and categories named 0, 1, 2, ...
///   a line for each repetition: the loss of each combination, those of the last parameter next to each other
namespace trainyard::bench {

[[nodiscard]] bool HasTable(int function);

/// One repetition: the `instance`-th, counted round and round. A regret of 1 is the median
/// combination's.
[[nodiscard]] std::unique_ptr<Problem> MakeTableProblem(int function, std::uint64_t instance);

}  // namespace trainyard::bench
