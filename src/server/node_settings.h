#pragma once

#include "base/result.h"
#include "engine/local/container_support.h"
#include "engine/local/node_settings.h"
#include "server/bound_sockets.h"
#include "server/options/serve_options.h"
#include "stores/store/data_directory.h"

namespace trainyard::server {

/// What attempts on this machine are given by their place: folders, sockets, addresses, accounts.
[[nodiscard]] engine::NodeSettings MakeNodeSettings(const ServeOptions& options,
                                                    const store::DataDirectory& data,
                                                    const engine::ContainerSupport& containers,
                                                    const BoundSockets& sockets);

/// Whether jobs can have the ids of --job-users here: as root, and every folder that jobs see can be shown
/// with them. Tries it. kFailedPrecondition, with a sentence for the operator. Before there are threads.
[[nodiscard]] Status CheckJobUsers(const ServeOptions& options, const store::DataDirectory& data);

}  // namespace trainyard::server
