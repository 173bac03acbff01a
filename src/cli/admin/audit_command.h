#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/command_session.h"
#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"
#include "cli/gcloud/json_value.h"

/// `admin audit`: who did what in a project, newest first. docs/operators.md, "The audit log".
namespace trainyard::cli {

/// "90s", "30m", "12h", "7d". kInvalidArgument, message only. Pure.
[[nodiscard]] Result<std::chrono::seconds> ParseAge(std::string_view text);
[[nodiscard]] Status CheckAge(std::string_view text);

inline constexpr auto kAuditFlags = WithCommonFlags({
    {"--denied", "", "Only what was refused."},
    {"--limit", "N", "At most so many entries. Default: 100.", CheckPositiveInteger},
    {"--principal", "EMAIL", "Only what this user or service account did, or tried."},
    {"--since", "AGE", "Only what is not older: 90s, 30m, 12h, 7d. Default: 1d.", CheckAge},
});

/// The filter of entries:list. Pure.
struct AuditWanted {
  SysTime since;
  std::optional<std::string> principal;  ///< with or without "user:"
  bool denied = false;
};
[[nodiscard]] std::string AuditFilter(const AuditWanted& wanted);

/// The cells of an entry: time, who, from where, method, resource, result ("OK", "PERMISSION_DENIED"). Pure
/// but for the time zone.
[[nodiscard]] std::vector<std::string> AuditCells(const Json& entry);

[[nodiscard]] ExitStatus ShowAuditLog(const CommandSession& session);

}  // namespace trainyard::cli
