#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "programs/attempt/attempt_dir.h"
#include "programs/lines/log_writer.h"
#include "replica/supervisor/background_work.h"

namespace trainyard::replica {

/// Keeps the new and changed files of the working directory after the program's end: it uploads them to
/// workdir/ below the manifest's work_folder in a process of its own, with the rights of the job's program,
/// and says what was kept and what was not. The server makes each object as a whole, so that none is half
/// written. Only of a master with such a folder; a container's working directory is in its image and is not
/// kept. Driven by its owner's poll loop; one thread. The destructor ends it.
class WorkKeeper final : BackgroundWork::Observer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The log outlives it.
  WorkKeeper(LogWriter& log, std::chrono::milliseconds stop_grace) : log_(log), stop_grace_(stop_grace) {}

  /// No process of the program runs any more. Directory and manifest outlive it. A failure is no failure of
  /// the job.
  void Start(const AttemptDir& dir, const v1::Manifest& manifest, int lock_fd, Time now);
  /// The server's order to stop the program, whenever it comes. Its files are kept, too, but the server does
  /// not wait for that longer than for a program that it stops: an upload that runs or starts later has the
  /// grace period, and one that runs when the order to kill comes ends at once.
  void OnStop(bool kill, Time now);
  /// Ends it early if its time is over, or if the system is shutting down, which does not wait for so long.
  void Step(Time now, bool shutting_down);
  /// max() unless it has to end by a time.
  [[nodiscard]] Time deadline() const noexcept { return work_ ? end_ : Time::max(); }

  [[nodiscard]] bool is_busy() const noexcept { return work_.has_value(); }
  /// -1 unless it is busy. When readable, call OnReadable().
  [[nodiscard]] int fd() const noexcept { return work_ ? work_->fd() : -1; }
  void OnReadable();

 private:
  void Cut(std::string_view why);
  void OnLine(bool is_error, std::string_view line) override;
  void OnProgress(v1::Progress) override {}

  LogWriter& log_;
  std::chrono::milliseconds stop_grace_;
  bool is_stopped_ = false;
  std::optional<BackgroundWork> work_;
  Time end_ = Time::max();
};

}  // namespace trainyard::replica
