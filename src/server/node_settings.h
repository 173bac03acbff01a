#pragma once

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

}  // namespace trainyard::server
