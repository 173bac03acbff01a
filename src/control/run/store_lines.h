#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "rules/jobs/service_lines.h"
#include "stores/logs/log_store.h"
#include "stores/metrics/usage_history.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::control {

/// Limit on the lines that replace one refused chunk.
inline constexpr std::int64_t kReplacedLinesMax = 100'000;
/// Limit on missing lines before a chunk that are replaced.
inline constexpr std::int64_t kMissingLinesMax = 10'000'000;

/// What to do about lines that are missing before a chunk.
enum class MissingLines {
  kReplace,  ///< its sender does not have them either
  kRefuse,   ///< its sender may have them: kFailedPrecondition
};

/// Makes a chunk durable. The result may be acknowledged.
///
/// A chunk that the store will never accept (kInvalidArgument: it is malformed, or lines before it are
/// missing) is not retried: its sender would repeat it for ever and everything after it would be lost too.
/// Instead, first the missing lines and then if necessary the chunk itself are replaced by as many lines, the
/// first of which says at ERROR what happened (the others are empty); the server's log says it, too. An error
/// of the store (full disk) is returned, and nothing is stored: try again. kInvalidArgument: it cannot be
/// replaced either (impossible numbers, more lines than those limits). Loop thread; `logs` outlives the call.
boost::asio::awaitable<Result<logs::StoredLines>> StoreLines(logs::LogStore& logs, logs::LogSource source,
                                                             replica::v1::LogChunk chunk,
                                                             MissingLines missing = MissingLines::kReplace);

/// The same, retried until it succeeds, with a pause between tries: waits while the disk is full. What cannot
/// be replaced is given up, with a line in the server's log.
boost::asio::awaitable<void> StoreLinesAtLast(logs::LogStore& logs, logs::LogSource source,
                                              replica::v1::LogChunk chunk, std::chrono::milliseconds pause);

/// For an attempt that has ended and wrote `written` lines: says at ERROR in its log which of the last ones
/// are missing. Written once, however often it is called, and retried until done, as above. True: some are
/// missing.
boost::asio::awaitable<bool> SayMissingLines(logs::LogStore& logs, logs::LogSource source,
                                             std::int64_t written, SysTime now,
                                             std::chrono::milliseconds pause);

/// Adds a line about an ended attempt after the attempt's own lines. Written once, however often it is
/// called, and retried until done.
boost::asio::awaitable<void> SayBehindLines(logs::LogStore& logs, logs::LogSource source,
                                            jobs::ServiceLine line, SysTime now,
                                            std::chrono::milliseconds pause);

struct Reporter {
  int replica = 0;  ///< position in the job's record
  int attempt = 0;
};

/// Stores what a master's program reported under one tag (measurement::TagOf). Null history: nothing is
/// stored. Only the master's program counts: reports of other replicas are dropped.
/// @return true if nothing more is to be done: it is not a master's report of a trial's metric. Loop thread.
/// Source: spec hyperparameter-tuning.md section 5.
[[nodiscard]] bool KeepTagReport(metrics::UsageHistory* history, const v1::JobRecord& job, Reporter reporter,
                                 const replica::v1::MetricReport& report);

}  // namespace trainyard::control
