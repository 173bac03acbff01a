#pragma once

#include <string>
#include <string_view>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// /etc/hosts as a replica sees it: the front's names (the first line of a name counts), the machine's own
/// lines, then, if there are some, each replica's address and host name. Pure: any thread.
///
/// @param front  without an address: none.
[[nodiscard]] std::string HostsFile(std::string_view machine, const v1::Cluster& cluster,
                                    const v1::GoogleFront& front);

/// The cluster without host names (so that addresses are used), for a replica whose /etc/hosts cannot be
/// made. Pure.
[[nodiscard]] v1::Cluster WithoutHostNames(v1::Cluster cluster);

}  // namespace trainyard::replica
