#pragma once

#include "base/result.h"
#include "logs/log_query.h"
#include "trainyard/logging/v2/tail.pb.h"

namespace trainyard::logs {

/// What entries:tail asks for; page size and token are not used. Pure: any thread.
///
/// Errors: kInvalidArgument with field "resource_names", "filter" or "buffer_window" (0 to 60 s; entries are
/// in order as they are stored, so nothing waits for it). Source: discovery document logging:v2,
/// TailLogEntriesRequest.
[[nodiscard]] Result<LogQuery> ParseTailQuery(const logging::v2::TailLogEntriesRequest& request);

}  // namespace trainyard::logs
