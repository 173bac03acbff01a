#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "rules/jobs/service_lines.h"
#include "stores/logs/log_store.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::control {

/// Lines that one refused chunk is replaced by, at most.
inline constexpr std::int64_t kReplacedLinesMax = 100'000;
/// Missing lines before a chunk that are replaced, at most.
inline constexpr std::int64_t kMissingLinesMax = 10'000'000;

/// What is done about lines that are missing before a chunk.
enum class MissingLines {
  kReplace,  ///< its sender does not have them either
  kRefuse,   ///< its sender may have them: kFailedPrecondition
};

/// Makes a chunk durable. What it returns may be acknowledged.
///
/// A chunk that the store will never take (kInvalidArgument: it is malformed, or lines before it are missing)
/// is not tried again: its sender would repeat it for ever and everything behind it would be lost too.
/// What is wrong is replaced: missing lines, then if need be the chunk itself, by as many lines, the first of
/// which says at ERROR what happened (the others are empty), and the operator reads it too. An error of the
/// store (full disk) is returned, nothing is stored then: try again. kInvalidArgument: it can't be replaced
/// either (impossible numbers, more lines than those limits). Loop thread; `logs` outlives the call.
boost::asio::awaitable<Result<logs::StoredLines>> StoreLines(logs::LogStore& logs, logs::LogSource source,
                                                             replica::v1::LogChunk chunk,
                                                             MissingLines missing = MissingLines::kReplace);

/// The same until it worked, with a pause between tries: a full disk is waited out. What cannot be replaced
/// is given up, with a line for the operator.
boost::asio::awaitable<void> StoreLinesAtLast(logs::LogStore& logs, logs::LogSource source,
                                              replica::v1::LogChunk chunk, std::chrono::milliseconds pause);

/// Of an attempt that has ended and wrote `written` lines: says at ERROR in its log which of the last ones
/// are not there. Once, however often it is called, and at last, as above. True: some are missing.
boost::asio::awaitable<bool> SayMissingLines(logs::LogStore& logs, logs::LogSource source,
                                             std::int64_t written, SysTime now,
                                             std::chrono::milliseconds pause);

/// Says something about an attempt that has ended behind its lines. Once, however often it is called, and at
/// last.
boost::asio::awaitable<void> SayBehindLines(logs::LogStore& logs, logs::LogSource source,
                                            jobs::ServiceLine line, SysTime now,
                                            std::chrono::milliseconds pause);

}  // namespace trainyard::control
