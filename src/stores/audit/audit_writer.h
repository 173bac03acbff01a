#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "base/async/unique_fd.h"
#include "base/clock.h"
#include "base/result.h"
#include "stores/audit/audit_files.h"

namespace trainyard::audit {

/// Appends lines to the newest file of the log, and removes files that are too old or exceed the total size.
/// Each line is in the file of its day; the lines of a file are in order of time. Blocking; one thread at a
/// time.
class AuditWriter {
 public:
  struct Options {
    std::string folder;                                    ///< DATA/audit
    std::int64_t file_bytes_max = std::int64_t{64} << 20;  ///< a larger file is closed and a new one begun
    Retention retention{};
    std::function<Status()> before_write{};  ///< for tests: its error is returned as if the disk had failed
  };
  struct Line {
    SysTime time;
    std::string text;  ///< with its line end
  };

  /// Creates the directory (0700). A last line that a crash has cut stays, and is ended before the next one.
  [[nodiscard]] static Result<AuditWriter> Open(Options options, SysTime now);

  /// The time of the last entry that was there at Open.
  [[nodiscard]] std::optional<SysTime> last_time() const noexcept { return last_time_; }
  /// Writes whole lines from the front of `lines` and removes those that are written. After an error the rest
  /// is still in `lines`: call again.
  Status Append(std::deque<Line>& lines);
  /// fdatasync.
  Status Sync();

 private:
  explicit AuditWriter(Options options) : options_(std::move(options)) {}
  Status GoOn(const AuditFile& newest);
  [[nodiscard]] bool Fits(const Line& line, std::int64_t bytes) const;
  Status Rotate(const Line& line);
  Status Write(const std::string& batch);
  /// A clock that jumps years ahead must not remove everything: compared with the previous file, no file
  /// counts as more than one day older.
  Status RemoveOld(std::chrono::sys_days day, std::chrono::sys_days day_before) const;

  Options options_;
  UniqueFd file_;      ///< none: the next line begins a new file
  AuditFile current_;  ///< with its size
  std::optional<SysTime> last_time_;
  bool is_cut_ = false;  ///< the file ends within a line
};

}  // namespace trainyard::audit
