#pragma once

#include <string>
#include <string_view>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// The text of a replica's /etc/hosts: the front's names (the first line with a name counts), the machine's
/// own lines, then each replica's address and host name if it has one. Pure: any thread.
///
/// @param front  if it has no address, its names are left out.
[[nodiscard]] std::string HostsFile(std::string_view machine, const v1::Cluster& cluster,
                                    const v1::GoogleFront& front);

/// Returns the cluster without host names (so that addresses are used), for a replica whose /etc/hosts cannot
/// be replaced. Pure.
[[nodiscard]] v1::Cluster WithoutHostNames(v1::Cluster cluster);

}  // namespace trainyard::replica
