#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/result.h"
#include "rules/kubernetes/kubeconfig.h"

namespace trainyard::engine {

/// The environment of an exec plugin.
struct PluginSurroundings {
  std::map<std::string, std::string> variables{};  ///< by name; empty: this process's
  std::chrono::milliseconds wait_max{30'000};      ///< a plugin that runs longer is killed
};

/// Runs the exec plugin of a kubeconfig and reads the credentials that it prints. Blocks; any thread.
/// @param authority  PEM of the cluster's authorities, for a plugin that wants to know its cluster.
/// Errors begin with the plugin's command. kNotFound: there is no such program, and how it is installed;
/// kDeadlineExceeded; kFailedPrecondition: it failed, with the last line that it wrote to its standard error,
/// or printed no credentials. Source: Kubernetes' documentation, "client-go credential plugins".
[[nodiscard]] Result<kubernetes::ExecCredential> RunExecPlugin(const kubernetes::Access& access,
                                                               const std::string& authority,
                                                               const PluginSurroundings& surroundings);

}  // namespace trainyard::engine
