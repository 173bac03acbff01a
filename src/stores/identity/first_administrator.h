#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "base/result.h"
#include "stores/identity/identities.h"

namespace trainyard::identity {

/// Ensures that the file (DATA/admin-token, 0600) has a valid token of the administrator. If the file is
/// missing or its token is no longer valid, makes a new one, and prints it if stderr is a terminal, otherwise
/// the file's name. Loop thread, before requests are accepted. Errors: the file's, those of Identities.
boost::asio::awaitable<Status> EnsureAdminToken(Identities& identities, std::string file);

}  // namespace trainyard::identity
