#pragma once

#include "net/http/message.h"
#include "stores/logs/line_query.h"

/// Parses the query parameters of requests for a job's log (control/v1/log_window.proto). The job's uid is
/// left 0. Pure: any thread. Errors: kInvalidArgument with the parameter's name as field.
namespace trainyard::api {

/// first, before, time or last (at most one; if absent: from the first line), count (at most kWindowLinesMax;
/// more is reduced to that), whole, replica, severity, trial.
[[nodiscard]] Result<logs::WindowQuery> ReadWindowQuery(const http::Request& request);

/// query, regex, matchCase, from, backward, count, replica, severity, trial. For valid queries see
/// logs::LineMatcher.
[[nodiscard]] Result<logs::SearchQuery> ReadSearchQuery(const http::Request& request);

/// buckets: the number of parts.
[[nodiscard]] Result<int> ReadSummaryParts(const http::Request& request);

/// format, replica, severity, trial.
[[nodiscard]] Result<logs::PieceQuery> ReadDownloadQuery(const http::Request& request);

}  // namespace trainyard::api
