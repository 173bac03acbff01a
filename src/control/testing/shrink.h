#pragma once

#include <functional>

#include "control/testing/schedule.h"

namespace trainyard::control {

/// The smallest schedule that is found by leaving out actions, in pieces and one by one, and then steps
/// between them, while `fails` returns true. It is called for each candidate, but never for an equal one
/// twice in a row. `failing` must fail.
[[nodiscard]] Schedule Shrink(Schedule failing, const std::function<bool(const Schedule&)>& fails);

}  // namespace trainyard::control
