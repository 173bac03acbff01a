#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <memory>

#include "api/logging/vertex_log_names.h"
#include "api/route.h"
#include "net/http/message.h"
#include "stores/audit/audit_search.h"
#include "stores/logs/log_query.h"
#include "stores/logs/log_store.h"
#include "stores/logs/log_tails.h"

namespace trainyard::api {

/// entries of logging v2: `POST /v2/entries:list`, and `/v2/entries:tail` as server-sent events (docs/guide,
/// "Following a log"). Google's service has tail over gRPC; the messages are its own.
///
/// tail: POST with a TailLogEntriesRequest, or GET with its fields in the query (resourceNames repeated).
/// Each event's data is a TailLogEntriesResponse, its id a cursor; the field Last-Event-ID, or `cursor` in
/// the query, continues after it. Without a cursor the tail begins at the filter's lower bound of the
/// timestamp; without such a bound, with new lines. It ends when the client disconnects or the server stops;
/// before a failure ends it, an event "error" with a google.rpc.Status is sent. Lines that a slow client has
/// not taken yet are read from the store later; a comment says when that begins.
///
/// Source: docs/spec "Logs"; discovery document logging:v2; HTML standard, "Server-sent events".
struct TailSource {
  logs::LogTails& tails;  ///< outlives it
  /// A comment is sent after this much silence, so that no proxy closes the connection.
  std::chrono::milliseconds heartbeat = std::chrono::seconds(15);
  MlJobOfNumber ml_job_of = {};
  /// Prints what a query in names of Vertex AI finds. Shared with the streams, which may outlive the routes.
  std::shared_ptr<boost::asio::thread_pool> printer = std::make_shared<boost::asio::thread_pool>(1);
};
Waits<const TailSource> GetTail, PostTail;

/// The sources of entries:list.
struct EntryLists {
  logs::LogStore& logs;  ///< outlives it
  /// Used if the filter names audit logs (audit::NamesAuditLogs); null: such a query searches jobs' logs,
  /// which have none. entries:tail never shows them. Must outlive it.
  audit::AuditSearch* audit = nullptr;
  MlJobOfNumber ml_job_of = {};
  boost::asio::thread_pool printers{1};
};

/// Success if the caller may read the lines that the query can find: the logs of each of its projects, or the
/// one job that its filter names (docs/adr/0047). If authentication is off: success. Loop thread.
boost::asio::awaitable<Status> RequireLogs(const http::Request& request, logs::LogQuery query);

/// The same for the audit logs of all of the query's projects: logging.privateLogEntries.list on each.
boost::asio::awaitable<Status> RequireAuditLogs(const http::Request& request, logs::LogQuery query);

}  // namespace trainyard::api
