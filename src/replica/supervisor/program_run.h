#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "programs/lines/log_writer.h"
#include "programs/runtimes/exit_rules.h"
#include "programs/runtimes/program.h"
#include "replica/supervisor/metric_watch.h"
#include "replica/supervisor/output_keeper.h"
#include "replica/supervisor/output_pace.h"
#include "replica/supervisor/server_link.h"
#include "replica/supervisor/usage_watch.h"
#include "replica/supervisor/user_process.h"

namespace trainyard::replica {

/// One run of the program, from its launch to the end of its output, with everything that watches it: its
/// resource use, and the reports of a master. Driven by its owner's poll loop; one thread. The destructor
/// kills the process.
class ProgramRun {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// All of them outlive it.
  struct Context {
    Program& program;
    ProgramStart start;
    LogWriter& log;
    const OutputKeeper& output;
    ServerLink& link;
  };

  explicit ProgramRun(Context context) : context_(context) {}

  /// Call it once. Says in the log what is run and what this machine does not allow, except when the machine
  /// is short of something (programs/sandbox/patience.h), which may pass. kFailedPrecondition: the program
  /// cannot be run.
  [[nodiscard]] Status Launch(Time now);
  void Terminate() noexcept { process_->Terminate(); }
  void Kill() noexcept { process_->Kill(); }

  /// The program's resource use and its reports.
  [[nodiscard]] std::vector<Watch> Watches();
  /// The server is connected (again): sends it all reports so far.
  void OnAttached();

  /// Becomes readable when the process has ended: call Reap(). -1 after that.
  [[nodiscard]] int pidfd() const noexcept { return reaped_ ? -1 : process_->pidfd(); }
  /// The reports under any tag so far, for a server that connects later.
  [[nodiscard]] std::vector<v1::MetricReport> TagReports() const;

  /// For each stream: when to call ReadOutput.
  [[nodiscard]] std::vector<Watch> OutputWatches(Time now, std::function<void(OutputStream)> read) const;
  [[nodiscard]] bool output_ended() const noexcept { return process_->output_ended(); }
  /// Reads once into the log, first from streams that rest (OutputPace): what they hold is older. Without a
  /// stream only from these. Does nothing while the log takes no output. Returns whether there was anything.
  bool ReadOutput(std::optional<OutputStream> ready, Time now);

  /// The process has ended: adds what is known about that to `end`.
  void Reap(ObservedEnd& end);
  /// Kills it, and what runs for it in a container daemon: its end does not matter any more, and its
  /// directory is gone.
  void GiveUp();
  /// Its output has been read, too: returns the exit without its times. Logs it, and cleans up.
  [[nodiscard]] v1::ExitRecord Finish(const ObservedEnd& end);

 private:
  bool ReadOnce(OutputStream stream, Time now);
  void SendAll(std::vector<v1::MetricReport> reports);
  void SendMetrics();
  void FinishMetrics(v1::ExitRecord& exit);

  Context context_;
  std::optional<UserProcess> process_;
  std::optional<UsageWatch> usage_;     ///< set while a process that can be measured is running
  std::optional<MetricWatch> metrics_;  ///< set for a trial's master
  std::optional<TagWatch> tags_;        ///< set for a master
  bool reaped_ = false;
  std::string buffer_;
  OutputPace pace_;
};

}  // namespace trainyard::replica
