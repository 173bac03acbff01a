#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/attempt/attempt_dir.h"
#include "programs/attempt/spool.h"
#include "programs/lines/log_writer.h"
#include "programs/runtimes/exit_rules.h"
#include "replica/supervisor/background_work.h"
#include "replica/supervisor/lifecycle.h"
#include "replica/supervisor/output_keeper.h"
#include "replica/supervisor/program_run.h"
#include "replica/supervisor/server_link.h"
#include "replica/supervisor/work_keeper.h"

namespace trainyard::replica {

struct SupervisorOptions {
  std::int64_t spool_bytes_max = kSpoolBytesMax;
  std::chrono::milliseconds output_wait_max = kOutputWaitMax;
  std::optional<Isolation> isolation{};  ///< overrides the manifest's, for tests of each isolation
};

/// Manages one attempt of one replica from its preparation to the exit record. One thread, one poll loop:
/// observations become AttemptEvents, the Lifecycle (with its diagram in lifecycle.h) decides what follows,
/// and the loop does it.
///
///     kPreparing -> kReady -> kRunning -> kStopping
///         |           |          |           |
///         |           |          +-> kDraining
///         |           |                  |
///         +-----------+-----------> kRecording -> kEnded -> kDone
class Supervisor final : ServerLink::Observer, BackgroundWork::Observer {
 public:
  struct Setup {
    AttemptDir dir;
    v1::Manifest manifest;
    UniqueFd lock;
    Spool spool;
    SupervisorOptions options;
  };

  /// The source outlives the supervisor.
  Supervisor(Setup setup, ProgramSource& source);
  ~Supervisor() override;

  /// Returns when the server has dismissed the attempt, after a SIGTERM once the attempt has ended, or when
  /// the attempt's directory was removed.
  void Run();

 private:
  using State = Lifecycle::State;

  void OnAttached() override;
  void OnFrame(const v1::ToReplica& frame) override;
  void OnLost() override;
  void OnLine(bool is_error, std::string_view line) override;
  void OnProgress(v1::Progress progress) override;

  /// Makes the transition and performs its actions, and then those of the events that result.
  void Take(AttemptEvent event, std::string_view stop_reason = {});
  std::optional<AttemptEvent> Perform(Action action, std::string_view stop_reason);
  void SendPhase();
  AttemptEvent Launch();
  void SayStop(std::string_view reason);
  void EndUnstarted();
  void Finish();
  void GiveUp();

  void Prepare();
  void BecomeReady(Prepared prepared);
  /// Logs the reason, and decides the exit.
  void ExplainFailure(const Error& error);
  /// Decides whether to wait because the machine is short of something, and logs it.
  [[nodiscard]] bool WaitsFor(const Error& error);
  void FailPreparation(const Error& error);
  void SetExit(v1::ExitRecord exit);

  void Round();
  void StepTimers();
  void OnSignals();
  void OnPreparation();
  void SendProgress();
  [[nodiscard]] bool IsAbandoned();
  [[nodiscard]] bool is_due() const noexcept;
  [[nodiscard]] bool MayRecord() const noexcept;
  [[nodiscard]] std::vector<Watch> Watches();

  Setup setup_;
  ProgramSource& source_;
  LogWriter log_;
  OutputKeeper output_;
  ServerLink link_;
  LogSender sender_;
  ExitWriter exit_writer_;
  WorkKeeper keeper_;  ///< busy in kRecording, before the record
  UniqueFd signals_;
  SteadyTime now_;

  Lifecycle lifecycle_;
  std::optional<BackgroundWork> preparation_;  ///< set in kPreparing
  v1::FromReplica progress_;                   ///< the preparation's last one; unset: none
  std::unique_ptr<Program> program_;           ///< set from kReady on
  std::optional<v1::Cluster> cluster_;
  std::optional<ProgramRun> run_;  ///< set from its launch to kDraining
  ObservedEnd end_;
  v1::ExitRecord exit_;                        ///< complete from kRecording on
  std::vector<v1::MetricReport> tag_reports_;  ///< from the run that has ended
  std::optional<SteadyTime> short_since_;      ///< since when the machine cannot start the program
  SteadyTime look_at_{};                       ///< when to check again that the directory exists
};

}  // namespace trainyard::replica
