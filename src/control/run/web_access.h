#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/settings.h"
#include "engine/attempt_host.h"
#include "trainyard/control/v1/record.pb.h"

/// The interactive shells of a job that asked for enableWebAccess. Source: spec lifecycle.md section 10.
namespace trainyard::control {

/// trainingOutput.webAccessUris: a URI for each running replica, by task name ("worker-replica-0"). Empty
/// unless the job asked for web access and is RUNNING. Anyone who knows a URI may use it, unless callers have
/// to log in (Settings.auth): then it has no secret, and the API checks the caller's rights.
[[nodiscard]] std::map<std::string, std::string> WebAccessUris(const Settings& settings,
                                                               const v1::JobRecord& job);

/// The attempt whose shell is opened by the URI of `task_name` with that token. kNotFound: no such replica;
/// kFailedPrecondition: it has no shell now, and why; kPermissionDenied: the token belongs to another one
/// (not checked with Settings.auth).
[[nodiscard]] Result<engine::AttemptRef> ShellTarget(const Settings& settings, const v1::JobRecord& job,
                                                     const std::string& task_name, std::string_view token);

}  // namespace trainyard::control
