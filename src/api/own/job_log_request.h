#pragma once

#include "net/http/message.h"
#include "stores/logs/line_query.h"

/// What the query of a request asks of a job's log (control/v1/log_window.proto). The job's uid is left 0.
/// Pure: any thread. Errors: kInvalidArgument with the parameter's name as field.
namespace trainyard::api {

/// first, before, time or last (at most one; without: from the first line), count (above kWindowLinesMax:
/// that many), whole, replica, severity, trial.
[[nodiscard]] Result<logs::WindowQuery> ReadWindowQuery(const http::Request& request);

/// query, regex, matchCase, from, backward, count, replica, severity, trial. What a query may be:
/// logs::LineMatcher.
[[nodiscard]] Result<logs::SearchQuery> ReadSearchQuery(const http::Request& request);

/// buckets: how many.
[[nodiscard]] Result<int> ReadSummaryParts(const http::Request& request);

/// format, replica, severity, trial.
[[nodiscard]] Result<logs::PieceQuery> ReadDownloadQuery(const http::Request& request);

}  // namespace trainyard::api
