#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>

#include "logs/log_store.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::control {

/// Lines that one refused chunk is replaced by, at most.
inline constexpr std::int64_t kReplacedLinesMax = 100'000;

/// Makes a chunk durable. What it returns may be acknowledged.
///
/// A chunk that the store will never take (kInvalidArgument: it is malformed, or lines before it are missing)
/// is not tried again: its sender would repeat it for ever and everything behind it would be lost too.
/// What is wrong is replaced: missing lines, then if need be the chunk itself, by as many lines, the first of
/// which says at ERROR what happened (the others are empty), and the operator reads it too. An error of the
/// store (full disk) is returned, nothing is stored then: try again. kInvalidArgument: it can't be replaced
/// either (impossible numbers, more than kReplacedLinesMax). Loop thread; `logs` outlives the call.
boost::asio::awaitable<Result<logs::StoredLines>> StoreLines(logs::LogStore& logs, logs::LogSource source,
                                                             replica::v1::LogChunk chunk);

/// The same until it worked, with a pause between tries: a full disk is waited out. What cannot be replaced
/// is given up, with a line for the operator.
boost::asio::awaitable<void> StoreLinesAtLast(logs::LogStore& logs, logs::LogSource source,
                                              replica::v1::LogChunk chunk, std::chrono::milliseconds pause);

}  // namespace trainyard::control
