#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/command_session.h"
#include "cli/gcloud/json_value.h"

/// `admin audit`: who did what in a project, newest first. docs/operators.md, "The audit log".
namespace trainyard::cli {

/// The filter of entries:list. Pure.
struct AuditQuery {
  SysTime since;
  std::optional<std::string> principal;  ///< with or without "user:"
  bool denied = false;
};
[[nodiscard]] std::string AuditFilter(const AuditQuery& query);

/// The cells of an entry: time, who, from where, method, resource, result ("OK", "PERMISSION_DENIED"). Pure
/// but for the time zone.
[[nodiscard]] std::vector<std::string> AuditCells(const Json& entry);

[[nodiscard]] ExitStatus ShowAuditLog(const CommandSession& session);

}  // namespace trainyard::cli
