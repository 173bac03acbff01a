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

/// What may lie on disk unacknowledged. Beyond it the user's process waits in its writes until the server
/// takes lines, but not for longer than kOutputWaitMax.
inline constexpr std::int64_t kSpoolBytesMax = std::int64_t{256} << 20;
/// How long a full spool or a full disk may hold the user's process back. Then its output is read and dropped
/// until there is room: training goes on, and the log says what is missing from it.
inline constexpr std::chrono::milliseconds kOutputWaitMax{60'000};

/// An entry of several lines is whole when none has come for this long.
inline constexpr std::chrono::milliseconds kEntryPause{100};
/// The same for a traceback whose exception has not come: Python reads source files between its frames.
inline constexpr std::chrono::milliseconds kUnfinishedPause{5000};

/// Brings the lines of a LogWriter into the spool, and decides what becomes of the program's output when they
/// cannot be stored: it is left in the pipes for a while, which holds the program back, and then dropped. One
/// thread.
///
///     storing --no room, full disk--> holding back --wait_max, it runs--> dropping --room--> storing
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

  /// Whether the program's output is to be read now.
  [[nodiscard]] bool may_read() const { return CanStore() || (log_.allowance().held() && !ended_); }
  /// The program has ended: what is left in its pipes is stored, however much the spool has, and nothing of
  /// it is dropped any more. It waits for a full disk where it is.
  void OnProcessEnded() noexcept { ended_ = true; }

  /// Begins or ends dropping, and says so in the log; then stores what is pending: now and then, or
  /// `at_once`. Call in every round.
  void Step(Time now, bool at_once);
  /// When Step has something to do without any event.
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
  Time disk_full_since_ = Time::max();  ///< max: it is not
  Time retry_at_ = Time::max();         ///< while the disk is full
  std::size_t lines_held_ = 0;          ///< of the log's entry, when it was looked at last
  Time release_at_ = Time::max();       ///< while the log holds an entry
  Time drop_at_ = Time::max();          ///< max: output can be stored, or is dropped already
};

/// Sends what the spool has to the server that is attached, and after the last line the exit record. One
/// thread.
class LogSender {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Spool and link outlive it.
  LogSender(Spool& spool, ServerLink& link) : spool_(spool), link_(link) {}

  /// `exit`: once it is on disk; until then null. Call in every round.
  void Step(Time now, const v1::ExitRecord* exit);
  /// When Step is to be called although nothing happens: the disk could not be read.
  [[nodiscard]] Time deadline() const noexcept { return retry_at_; }
  /// What is not acknowledged is sent again: to another connection.
  void Rewind();

 private:
  Spool& spool_;
  ServerLink& link_;
  bool exit_sent_ = false;  ///< on this connection
  Time retry_at_ = Time::max();
};

/// Brings the end of an attempt to the disk: its lines, then the exit record, before anybody hears of it. One
/// thread.
class ExitWriter {
 public:
  /// All outlive it.
  ExitWriter(const AttemptDir& dir, Spool& spool, LogWriter& log) : dir_(dir), spool_(spool), log_(log) {}

  /// When all lines are in the spool. kRecorded, or kContainerLeft or kDiskRefused: not yet, try again; there
  /// may be further lines. Completes the exit.
  [[nodiscard]] AttemptEvent Write(v1::ExitRecord& exit);

 private:
  [[nodiscard]] bool SyncLines(v1::ExitRecord& exit);
  AttemptEvent WaitForDisk(const std::string& why);

  const AttemptDir& dir_;
  Spool& spool_;
  LogWriter& log_;
  bool says_container_left_ = false;
  std::string unsynced_;  ///< why lines may be missing from the disk; empty: they are not
  bool says_unsynced_ = false;
  std::string diagnosed_;  ///< why there is no exit record yet
};

}  // namespace trainyard::replica
