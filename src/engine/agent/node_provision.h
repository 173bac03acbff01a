#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "trainyard/agent/v1/agent.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// What a welcome brings that replicas find as files. Blocking: a pool's thread.
namespace trainyard::agent {

/// The site hook (programs/environment/site_hook.h) and the operator's runtime definitions, in an
/// environments directory that others may use at the same time: a file with the right contents is left alone,
/// another one is replaced at once. kInvalidArgument: a definition whose name is no file's name; errors of
/// the file system.
[[nodiscard]] Status ProvisionEnvironments(const std::string& environments_dir,
                                           const std::map<std::string, std::string>& definitions);

/// Where the front's parts are on this node.
struct FrontPlaces {
  std::string dir;                 ///< for the files that replicas read
  replica::v1::GoogleFront where;  ///< its address, ports and Unix sockets
  std::string gcs_lacking;         ///< why replicas cannot see buckets at /gcs; empty: they can
};

/// What replicas are told of the front that has Google's names, whose files are written as the welcome says.
/// kInvalidArgument: the welcome has no authority to trust; errors of the file system.
[[nodiscard]] Result<replica::v1::GoogleFront> ProvisionFront(const v1::ToAgent::Welcome& welcome,
                                                              const FrontPlaces& places);

}  // namespace trainyard::agent
