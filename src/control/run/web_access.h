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

/// trainingOutput.webAccessUris: a URI for each replica that runs, by task name ("worker-replica-0"). Empty
/// unless the job asked for web access and is RUNNING. Whoever knows a URI may use it, unless who asks has to
/// log in (Settings.auth): then it has no secret, and the door decides.
[[nodiscard]] std::map<std::string, std::string> WebAccessUris(const Settings& settings,
                                                               const v1::JobRecord& job);

/// The attempt whose shell the URI of `task_name` with that token opens. kNotFound: no such
/// replica; kFailedPrecondition: it has no shell now, and why; kPermissionDenied: the token is
/// another's (not asked for with Settings.auth).
[[nodiscard]] Result<engine::AttemptRef> ShellTarget(const Settings& settings, const v1::JobRecord& job,
                                                     const std::string& task_name, std::string_view token);

}  // namespace trainyard::control
