#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/process/run_tool.h"
#include "base/result.h"
#include "engine/local/job_users.h"
#include "engine/local/node_settings.h"

/// What this machine allows, tried out before anything depends on it. Any thread.
namespace trainyard::engine {

/// Whether replicas can have networks of their own here: tries it, in a process of its own.
/// kFailedPrecondition, with a sentence for the operator. Before there are other threads.
[[nodiscard]] Status CheckIsolatedNetworks();

/// Whether replicas of an account that is not root can have user and mount namespaces here, a root of their
/// own, and connections that are led elsewhere: tries it, in processes of their own. kFailedPrecondition,
/// with a clause for the operator that names the setting to change. Before there are other threads.
[[nodiscard]] Status CheckUserNamespaces();
[[nodiscard]] Status CheckOwnRoot();
[[nodiscard]] Status CheckConnectDoors();

/// Whether files of the directory can be shown to jobs with users of their own: tries it, and changes
/// nothing. Needs root. kFailedPrecondition, with the step and the directory.
[[nodiscard]] Status CheckJobUsers(const JobUsers& users, const std::string& directory);

/// Which isolation attempts have here, and are not started without; tries it, a few ms.
[[nodiscard]] Isolations FindIsolations();

/// How the tools that build environments are isolated here.
struct BuildTools {
  std::unique_ptr<ToolIsolation> isolation;
  std::string missing;  ///< what this machine cannot do, a sentence for the log; empty: nothing
};

/// Tries what this machine allows; a few ms. `hidden`: directories that tools must not see.
[[nodiscard]] BuildTools FindBuildTools(std::vector<std::string> hidden);

}  // namespace trainyard::engine
