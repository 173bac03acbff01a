#pragma once

#include "base/result.h"
#include "engine/local/container_support.h"
#include "engine/local/node_settings.h"
#include "server/bound_sockets.h"
#include "server/options/serve_options.h"
#include "stores/store/data_directory.h"

namespace trainyard::server {

/// The settings that attempts get from this machine: directories, sockets, addresses, accounts.
[[nodiscard]] engine::NodeSettings MakeNodeSettings(const ServeOptions& options,
                                                    const store::DataDirectory& data,
                                                    const engine::ContainerSupport& containers,
                                                    const BoundSockets& sockets);

/// Writes the files that replicas read about the front, and returns what they are told about it. If /gcs is
/// used for something else, the operator is told; it is no error. Call it before there are other threads.
/// Errors: those of the data directory.
[[nodiscard]] Result<replica::v1::GoogleFront> PrepareGoogleFront(const ServeOptions& options,
                                                                  const store::DataDirectory& data,
                                                                  const BoundSockets& sockets);

/// Whether jobs can use the ids of --job-users here: the server must be root, and every directory that jobs
/// see must be usable with these ids. Tries it. kFailedPrecondition, with a sentence for the operator. Call
/// it before there are threads.
[[nodiscard]] Status CheckJobUsers(const ServeOptions& options, const store::DataDirectory& data);

}  // namespace trainyard::server
