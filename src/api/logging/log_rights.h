#pragma once

#include <boost/asio/awaitable.hpp>

#include "net/http/message.h"
#include "stores/logs/log_query.h"

namespace trainyard::api {

/// Success if the caller may read the lines that the query can find: the logs of each of its projects, or the
/// one job that its filter names (docs/adr/0047). If authentication is off: success. Loop thread.
boost::asio::awaitable<Status> RequireLogs(const http::Request& request, logs::LogQuery query);

/// The same for the audit logs of all of the query's projects: logging.privateLogEntries.list on each.
boost::asio::awaitable<Status> RequireAuditLogs(const http::Request& request, logs::LogQuery query);

}  // namespace trainyard::api
