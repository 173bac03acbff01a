#pragma once

#include <string>

#include "async/unique_fd.h"
#include "base/result.h"

namespace trainyard::replica {

/// Begins to connect to a Unix socket, also where its path is longer than an address may be. `flags`:
/// SOCK_NONBLOCK or 0. kUnavailable: nobody listens there (now).
[[nodiscard]] Result<UniqueFd> ConnectUnix(const std::string& path, int flags);

}  // namespace trainyard::replica
