#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/result.h"
#include "server/data_directory.h"
#include "stores/identity/identities.h"

namespace trainyard::server {

/// Sees to it that DATA/admin-token (0600) has a token of the administrator that is valid: as it is, or a new
/// one where the file is missing or what it has is not valid any more. A new one is printed too where stderr
/// is a terminal, else the file's name is. Loop thread, before anybody can ask. Errors: the data directory's,
/// the identities'.
boost::asio::awaitable<Status> EnsureAdminToken(identity::Identities& identities, const DataDirectory& data);

}  // namespace trainyard::server
