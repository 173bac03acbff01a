#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "programs/lines/log_writer.h"
#include "programs/runtimes/exit_rules.h"
#include "programs/runtimes/program.h"
#include "replica/supervisor/metric_watch.h"
#include "replica/supervisor/server_link.h"
#include "replica/supervisor/usage_watch.h"
#include "replica/supervisor/user_process.h"
#include "replica/supervisor/watch.h"

namespace trainyard::replica {

/// One run of the program, from its launch to the end of its output, with everything that watches it: its use
/// of the machine, and what a master reports. Driven by its owner's poll loop; one thread. The
/// destructor kills the process.
class ProgramRun {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// They outlive it.
  struct Around {
    Program& program;
    ProgramStart start;
    LogWriter& log;
    ServerLink& link;
  };

  explicit ProgramRun(Around around) : around_(around) {}

  /// Once. Says in the log what is run and what this machine does not allow, unless the machine is short of
  /// something (programs/sandbox/patience.h): that may pass. kFailedPrecondition: the program cannot be run.
  [[nodiscard]] Status Launch(Time now);
  void Terminate() noexcept { process_->Terminate(); }
  void Kill() noexcept { process_->Kill(); }

  /// The program's use of the machine, and what it reports.
  [[nodiscard]] std::vector<Watch> Watches();
  /// The server is there (again): tells it what was reported so far.
  void OnAttached();

  /// Readable when the process has ended: Reap(). -1 after that.
  [[nodiscard]] int pidfd() const noexcept { return reaped_ ? -1 : process_->pidfd(); }
  /// What was reported under any tag so far: what a server that is attached later has to know.
  [[nodiscard]] std::vector<v1::MetricReport> TagReports() const;

  /// -1 once the stream has ended.
  [[nodiscard]] int output_fd(OutputStream stream) const noexcept { return process_->output_fd(stream); }
  [[nodiscard]] bool output_ended() const noexcept { return process_->output_ended(); }
  /// Reads once, into the log. Whether there was anything.
  bool ReadOutput(OutputStream stream);

  /// The process has ended: adds what is known of that to `end`.
  void Reap(ObservedEnd& end);
  /// Kills it, and what runs for it elsewhere: nobody wants to know its end, and its directory is gone.
  void GiveUp();
  /// Its output is read as well: the exit but for its times. Says it in the log, and cleans up.
  [[nodiscard]] v1::ExitRecord Finish(const ObservedEnd& end);

 private:
  void SendAll(std::vector<v1::MetricReport> reports);
  void SendMetrics();
  void FinishMetrics(v1::ExitRecord& exit);

  Around around_;
  std::optional<UserProcess> process_;
  std::optional<UsageWatch> usage_;     ///< while the process lives
  std::optional<MetricWatch> metrics_;  ///< of a trial's master
  std::optional<TagWatch> tags_;        ///< of a master
  bool reaped_ = false;
  std::string buffer_;
};

}  // namespace trainyard::replica
