#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rules/tuning/space.h"

/// What tuners are measured on.
namespace trainyard::bench {

class Problem {
 public:
  virtual ~Problem() = default;
  [[nodiscard]] virtual const tuning::Space& space() const = 0;
  /// The value above the least one; 0 at the optimum.
  [[nodiscard]] virtual double Regret(const tuning::Point& point) const = 0;
};

/// Functions 1 to 24: BBOB, any dimension from 2. 101 to 105: mixed spaces, whose dimension is their own (any
/// number will do). From 201: tables (table.h), also with a dimension of their own.
[[nodiscard]] bool IsProblem(int function, int dimension);
[[nodiscard]] std::unique_ptr<Problem> MakeProblem(int function, int dimension, std::uint64_t instance);

/// A space on one line: parameters by ';', fields by ' ', the values of a list by ','.
[[nodiscard]] std::string SpaceText(const tuning::Space& space);

}  // namespace trainyard::bench
