#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "programs/attempt/attempt_dir.h"
#include "programs/attempt/spool.h"
#include "programs/lines/log_writer.h"
#include "replica/supervisor/lifecycle.h"
#include "replica/supervisor/server_link.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// Limit on unacknowledged output on disk. Beyond it the user's process waits in its writes until the server
/// receives lines, but not longer than kOutputWaitMax.
inline constexpr std::int64_t kSpoolBytesMax = std::int64_t{256} << 20;
/// How long a full spool or a full disk may block the user's process. Then its output is read and dropped
/// until there is space: training continues, and the log says what is missing from it.
inline constexpr std::chrono::milliseconds kOutputWaitMax{60'000};

/// An entry of several lines is complete when no further line came for this long.
inline constexpr std::chrono::milliseconds kEntryPause{100};
/// The same for a traceback without its exception so far: Python reads source files between its frames.
inline constexpr std::chrono::milliseconds kUnfinishedPause{5000};

/// How often output that waits for the end of its line is looked at.
inline constexpr std::chrono::milliseconds kOutputTick{500};

/// Writes the lines of a LogWriter to the spool, and decides about the program's output when they cannot be
/// stored: it is left in the pipes for a while, which blocks the program, and then dropped. One thread.
///
///     storing --no space, full disk--> blocking --wait_max, it runs--> dropping --space--> storing
class OutputKeeper {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    std::int64_t spool_bytes_max = kSpoolBytesMax;
    std::chrono::milliseconds wait_max = kOutputWaitMax;
  };

  /// Log and spool outlive it.
  OutputKeeper(LogWriter& log, const Spool& spool, Limits limits)
      : log_(log), spool_(spool), limits_(limits) {}

  /// Whether the program's output should be read now.
  [[nodiscard]] bool may_read() const { return CanStore() || (log_.allowance().held() && !ended_); }
  /// Call when the program has ended: what is left in its pipes is stored, however full the spool is, and is
  /// no longer dropped. While the disk is full, it stays in the pipes.
  void OnProcessEnded() noexcept { ended_ = true; }

  /// Begins or ends dropping, and says so in the log; then stores pending lines: at intervals, or `at_once`.
  /// Call in every round.
  void Step(Time now, bool at_once);
  /// The time at which Step must be called even without an event.
  [[nodiscard]] Time deadline() const;

 private:
  [[nodiscard]] bool CanStore() const;
  [[nodiscard]] bool disk_full() const { return disk_full_since_ != Time::max(); }
  void Flush(Time now, bool at_once);
  void ReleaseEntry(Time now);

  LogWriter& log_;
  const Spool& spool_;
  Limits limits_;
  bool ended_ = false;
  Time last_flush_{};
  Time disk_full_since_ = Time::max();  ///< max: the disk is not full
  Time retry_at_ = Time::max();         ///< while the disk is full
  std::size_t lines_held_ = 0;          ///< in the log's unfinished entry, when it was last checked
  Time release_at_ = Time::max();       ///< set while the log has an unfinished entry
  Time tick_at_ = Time::max();          ///< set while output waits for the end of its line
  Time drop_at_ = Time::max();          ///< max: output can be stored, or is already being dropped
};

/// Sends the contents of the spool to the connected server, and after the last line the exit record. One
/// thread.
class LogSender {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Spool and link outlive it.
  LogSender(Spool& spool, ServerLink& link) : spool_(spool), link_(link) {}

  /// `exit`: null until it is on disk. Call in every round.
  void Step(Time now, const v1::ExitRecord* exit);
  /// The time at which Step must be called even without an event: the disk could not be read.
  [[nodiscard]] Time deadline() const noexcept { return retry_at_; }
  /// Sends unacknowledged lines again, over a new connection.
  void Rewind();

 private:
  Spool& spool_;
  ServerLink& link_;
  bool exit_sent_ = false;  ///< on this connection
  Time retry_at_ = Time::max();
};

/// Writes the end of an attempt to the disk: its lines, then the exit record, before the server is told. One
/// thread.
class ExitWriter {
 public:
  /// All outlive it.
  ExitWriter(const AttemptDir& dir, Spool& spool, LogWriter& log) : dir_(dir), spool_(spool), log_(log) {}

  /// Call when all lines are in the spool. kRecorded, or kContainerLeft or kDiskRefused: not yet, try again;
  /// there may be further lines. Completes the exit.
  [[nodiscard]] AttemptEvent Write(v1::ExitRecord& exit);

 private:
  [[nodiscard]] bool SyncLines(v1::ExitRecord& exit);
  AttemptEvent WaitForDisk(const std::string& why);

  const AttemptDir& dir_;
  Spool& spool_;
  LogWriter& log_;
  bool says_container_left_ = false;
  std::string unsynced_;  ///< why lines may be missing on the disk; empty: none are
  bool says_unsynced_ = false;
  std::string diagnosed_;  ///< why there is no exit record yet
};

}  // namespace trainyard::replica
