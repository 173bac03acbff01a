#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "stores/logs/log_store.h"
#include "trainyard/logging/v2/tail.pb.h"

namespace trainyard::logs {

/// One batch of a tail.
struct TailBatch {
  std::shared_ptr<const std::string> response;  ///< TailLogEntriesResponse, compact JSON; null: no entries
  std::string cursor;                           ///< a tail that begins with it continues after this batch
  bool behind = false;                          ///< there are stored entries after this batch
};

/// One client's live view of the log. Keeps no lines in memory: a slow client is served from the store. Loop
/// thread only.
class Tail {
 public:
  virtual ~Tail() = default;
  /// The next entries, as soon as there are any; an empty batch after `wait_max`. One call at a time. An
  /// error (kDataLoss, or the store's) ends the tail.
  virtual boost::asio::awaitable<Result<TailBatch>> Next(std::chrono::steady_clock::duration wait_max) = 0;
};

/// All live tails of a store: when lines become durable, it wakes the tails that may want them, and reads for
/// them on a separate thread. Tails with the same query and position share one read and its bytes. Many tails
/// of one job are served together, in rounds (TailRounds): whatever their places were, they are at the same
/// one afterwards. One that cannot keep up, because its client is slow, reads on its own until it has caught
/// up. A waiting tail costs nothing. Only a few tails run on the loop at a time (Turns), so that many tails
/// delay each other, but nothing else. Loop thread only.
///
/// Lifecycle: observes the store's appends; the store and the executor outlive it, it outlives its tails. The
/// destructor joins the thread.
class LogTails {
 public:
  /// `path`: the store's file.
  [[nodiscard]] static Result<std::unique_ptr<LogTails>> Open(boost::asio::any_io_executor loop,
                                                              LogStore& store, const std::string& path);
  ~LogTails();
  LogTails(const LogTails&) = delete;
  LogTails& operator=(const LogTails&) = delete;

  /// A tail that starts after `cursor`, or where the filter says (TailReader::Start). Errors: those of
  /// ParseTailQuery, and kInvalidArgument with field "cursor".
  boost::asio::awaitable<Result<std::shared_ptr<Tail>>> Start(logging::v2::TailLogEntriesRequest request,
                                                              std::string cursor);

  /// The number of times that the store was read for tails.
  [[nodiscard]] std::uint64_t readings() const noexcept;

 private:
  class Live;
  struct Crowd;
  struct Impl;
  explicit LogTails(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::logs
