#pragma once

#include <chrono>

#include "http/router.h"
#include "logs/log_store.h"
#include "logs/log_tails.h"

namespace trainyard::api {

struct TailTimes {
  /// A comment is sent after so much silence, so that nothing between us and the client hangs up.
  std::chrono::milliseconds heartbeat = std::chrono::seconds(15);
};

/// entries of logging v2: `POST /v2/entries:list`, and `/v2/entries:tail` as server-sent events (docs/guide,
/// "Following a log"). The original has tail over gRPC; the messages are its own.
///
/// tail: POST with a TailLogEntriesRequest, or GET with its fields in the query (resourceNames repeated).
/// Each event's data is a TailLogEntriesResponse, its id a cursor; the field Last-Event-ID, or `cursor` in
/// the query, goes on after it. Without one the tail begins where the filter's lower bound of the timestamp
/// says, without such a bound with what comes. It ends when the client goes or the server stops; an event
/// "error" with a google.rpc.Status comes before a failure ends it. What a slow client has not taken yet is
/// read from the store when it does; a comment says when that begins.
///
/// `logs` and `tails` outlive the router. Source: docs/spec "Logs"; discovery document logging:v2; HTML
/// standard, "Server-sent events".
void AddLoggingRoutes(http::Router& router, logs::LogStore& logs, logs::LogTails& tails,
                      TailTimes times = {});

/// The routes of entries:tail; see AddLoggingRoutes.
void AddTailRoutes(http::Router& router, logs::LogTails& tails, TailTimes times);

}  // namespace trainyard::api
