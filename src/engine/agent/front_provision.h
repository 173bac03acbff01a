#pragma once

#include <string>

#include "base/result.h"
#include "trainyard/agent/v1/agent.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::agent {

/// Where the front's parts are on this node.
struct FrontPlaces {
  std::string dir;                 ///< for the files that replicas read
  replica::v1::GoogleFront where;  ///< its address, ports and Unix sockets
  std::string gcs_lacking;         ///< why replicas cannot see buckets at /gcs; empty: they can
};

/// What replicas are told of the front that has Google's names, whose files are written as the welcome says.
/// kInvalidArgument: the welcome has no authority to trust; errors of the file system. Blocking: a pool's
/// thread.
[[nodiscard]] Result<replica::v1::GoogleFront> ProvisionFront(const v1::ToAgent::Welcome& welcome,
                                                              const FrontPlaces& places);

}  // namespace trainyard::agent
