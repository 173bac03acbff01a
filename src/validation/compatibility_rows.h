#pragma once

#include <span>

#include "validation/compatibility.h"

/// The parts that compatibility.cc puts together.
namespace trainyard::jobs {

[[nodiscard]] std::span<const FieldRow> InputRows();    ///< Job and TrainingInput
[[nodiscard]] std::span<const FieldRow> ReplicaRows();  ///< what the roles, scheduling and tuning are made of
[[nodiscard]] std::span<const FieldRow> OutputRows();   ///< TrainingOutput and below

}  // namespace trainyard::jobs
