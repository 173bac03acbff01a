#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/process/run_tool.h"
#include "base/result.h"
#include "engine/local/job_users.h"
#include "engine/local/node_settings.h"

/// Checks of what this machine allows, made before anything depends on it. Any thread.
namespace trainyard::engine {

/// Whether replicas can have isolated networks here: tries it in a child process. kFailedPrecondition, with a
/// sentence for the operator. Call it before there are other threads.
[[nodiscard]] Status CheckIsolatedNetworks();

/// Whether replicas of an account that is not root can have user and mount namespaces here, a root directory
/// of their own, and redirected connections: each tries it in a child process. kFailedPrecondition, with a
/// clause for the operator that names the setting to change. Call them before there are other threads.
[[nodiscard]] Status CheckUserNamespaces();
[[nodiscard]] Status CheckOwnRoot();
[[nodiscard]] Status CheckConnectDoors();

/// Whether jobs with separate users can be given files of the directory: tries it, and changes nothing. Needs
/// root. kFailedPrecondition, with the step and the directory.
[[nodiscard]] Status CheckJobUsers(const JobUsers& users, const std::string& directory);

/// The isolation of attempts on this machine, without which none is started; tries it, which takes a few ms.
[[nodiscard]] Isolations FindIsolations();

/// How the tools that build environments are isolated here.
struct BuildTools {
  std::unique_ptr<ToolIsolation> isolation;
  std::string missing;  ///< what this machine cannot do, a sentence for the log; empty: nothing
};

/// Tries what this machine allows, which takes a few ms. `hidden`: directories that tools must not see.
[[nodiscard]] BuildTools FindBuildTools(std::vector<std::string> hidden);

}  // namespace trainyard::engine
