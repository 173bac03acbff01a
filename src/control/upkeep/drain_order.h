#pragma once

#include <string>

#include "base/result.h"
#include "rules/placement/plan.h"
#include "trainyard/control/v1/admin.pb.h"

/// The operator's order to start nothing new: DATA/drain.json, which outlives the server.
namespace trainyard::control {

/// Off if there is no file. kDataLoss: the file cannot be read; if the server guessed, it might start jobs
/// that it must not start.
[[nodiscard]] Result<control::v1::Drain> ReadDrain(const std::string& data);

/// Durable when it returns. Blocking.
[[nodiscard]] Status KeepDrain(const std::string& data, const control::v1::Drain& drain);

/// The reason shown for a job that waits meanwhile. Pure.
[[nodiscard]] placement::Shortage DescribeDrain(const control::v1::Drain& drain);

}  // namespace trainyard::control
