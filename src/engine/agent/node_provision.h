#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "trainyard/agent/v1/agent.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Writes the parts of a welcome that replicas read as files. Blocking: call it on a pool's thread.
namespace trainyard::agent {

/// Writes the site hook (programs/environment/site_hook.h) and the operator's runtime definitions into an
/// environments directory that other agents may use at the same time: a file with the right contents is left
/// alone, any other is replaced atomically. kInvalidArgument: a definition's name is no valid file name;
/// errors of the file system.
[[nodiscard]] Status ProvisionEnvironments(const std::string& environments_dir,
                                           const std::map<std::string, std::string>& definitions);

/// The locations of the front's parts on this node.
struct FrontPlaces {
  std::string dir;                 ///< for the files that replicas read
  replica::v1::GoogleFront where;  ///< its address, ports and Unix sockets
  std::string gcs_lacking;         ///< why replicas cannot see buckets at /gcs; empty: they can
};

/// Writes the files of the front that answers to Google's host names, and returns what replicas are told
/// about it. kInvalidArgument: the welcome has no authority to trust; errors of the file system.
[[nodiscard]] Result<replica::v1::GoogleFront> ProvisionFront(const v1::ToAgent::Welcome& welcome,
                                                              const FrontPlaces& places);

}  // namespace trainyard::agent
