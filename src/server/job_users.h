#pragma once

#include <optional>

#include "base/result.h"
#include "engine/local/job_users.h"
#include "server/options/serve_options.h"
#include "stores/store/data_directory.h"

namespace trainyard::server {

/// The ids that the operator gives to jobs; nothing: they run as the server.
[[nodiscard]] std::optional<engine::JobUsers> JobUsersOf(const ServeOptions& options);

/// Whether jobs can have them here: as root, and every folder that jobs see can be shown with them. Tries it.
/// kFailedPrecondition, with a sentence for the operator. Before there are threads.
[[nodiscard]] Status CheckJobUsers(const ServeOptions& options, const store::DataDirectory& data);

}  // namespace trainyard::server
