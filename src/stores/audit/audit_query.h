#pragma once

#include "base/wire/filter.h"
#include "stores/logs/log_query.h"

/// Pure: any thread.
namespace trainyard::audit {

/// Whether only entries of audit logs can match, by what the filter says of logName: logName="projects/P/
/// logs/cloudaudit.googleapis.com%2Factivity", logName:"cloudaudit.googleapis.com", log_id(...), several
/// joined by OR. Then entries:list is answered by the audit log, else by the logs of jobs, never by both.
[[nodiscard]] bool NamesAuditLogs(const wire::Filter& filter);

}  // namespace trainyard::audit
