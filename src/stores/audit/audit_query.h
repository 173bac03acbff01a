#pragma once

#include "base/wire/filter.h"
#include "stores/logs/log_query.h"

/// Pure: any thread.
namespace trainyard::audit {

/// Whether only entries of audit logs can match, judging by the filter's terms for logName:
/// logName="projects/P/ logs/cloudaudit.googleapis.com%2Factivity", logName:"cloudaudit.googleapis.com",
/// log_id(...), several joined by OR. If so, entries:list is answered from the audit log, otherwise from the
/// logs of jobs, never from both.
[[nodiscard]] bool NamesAuditLogs(const wire::Filter& filter);

}  // namespace trainyard::audit
