#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "trainyard/agent/v1/agent.pb.h"

/// What a welcome brings that replicas find as files. Blocking: a pool's thread.
namespace trainyard::agent {

/// The site hook (programs/environment/site_hook.h) and the operator's runtime definitions, in an
/// environments directory that others may use at the same time: a file with the right contents is left alone,
/// another one is replaced at once. kInvalidArgument: a definition whose name is no file's name; errors of
/// the file system.
[[nodiscard]] Status ProvisionEnvironments(const std::string& environments_dir,
                                           const std::map<std::string, std::string>& definitions);

}  // namespace trainyard::agent
