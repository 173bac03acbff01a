#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "base/result.h"
#include "stores/identity/identities.h"

namespace trainyard::identity {

/// Sees to it that the file (DATA/admin-token, 0600) has a token of the administrator that is valid: as it
/// is, or a new one where the file is missing or what it has is not valid any more. A new one is printed too
/// where stderr is a terminal, else the file's name is. Loop thread, before anybody can ask. Errors: the
/// file's, the identities'.
boost::asio::awaitable<Status> EnsureAdminToken(Identities& identities, std::string file);

}  // namespace trainyard::identity
