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

/// Appends lines to the newest file of the log, and removes files that are too old or too many. Each line is
/// in the file of its day; a file's lines are in order of time. Blocking; one thread at a time.
class AuditWriter {
 public:
  struct Options {
    std::string folder;                                    ///< DATA/audit
    std::int64_t file_bytes_max = std::int64_t{64} << 20;  ///< then a new file
    Retention retention{};
    std::function<Status()> before_write{};  ///< for tests: its error stands for the disk's
  };
  struct Line {
    SysTime time;
    std::string text;  ///< with its end
  };

  /// Makes the folder (0700). A last line that a crash has cut stays, and is ended before the next one.
  [[nodiscard]] static Result<AuditWriter> Open(Options options, SysTime now);

  /// Of the last entry that was there at Open.
  [[nodiscard]] std::optional<SysTime> last_time() const noexcept { return last_time_; }
  /// Writes from the front and takes off what is written, whole lines. After an error the rest is still
  /// there: call again.
  Status Append(std::deque<Line>& lines);
  /// fdatasync.
  Status Sync();

 private:
  explicit AuditWriter(Options options) : options_(std::move(options)) {}
  Status GoOn(const AuditFile& newest);
  [[nodiscard]] bool Fits(const Line& line, std::int64_t bytes) const;
  Status Rotate(const Line& line);
  Status Write(const std::string& batch);
  /// A clock that jumps years ahead must not remove all: nothing is older than one day more than it was for
  /// the file before.
  Status RemoveOld(std::chrono::sys_days day, std::chrono::sys_days day_before) const;

  Options options_;
  UniqueFd file_;      ///< none: the next line begins a new file
  AuditFile current_;  ///< with its size
  std::optional<SysTime> last_time_;
  bool is_cut_ = false;  ///< the file ends within a line
};

}  // namespace trainyard::audit
