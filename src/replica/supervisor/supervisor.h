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
#include "replica/supervisor/lifecycle.h"
#include "replica/supervisor/output_keeper.h"
#include "replica/supervisor/preparation.h"
#include "replica/supervisor/program_run.h"
#include "replica/supervisor/server_link.h"

namespace trainyard::replica {

struct SupervisorOptions {
  std::int64_t spool_bytes_max = kSpoolBytesMax;
  std::chrono::milliseconds output_wait_max = kOutputWaitMax;
  std::optional<Isolation> isolation{};  ///< another one than the manifest's, for tests of each
};

/// Owns one attempt of one replica from what its program runs in to the exit record. One thread, one poll
/// loop: what is seen becomes an AttemptEvent, the Lifecycle (with its diagram in lifecycle.h) says what
/// follows, and the loop does it.
///
///     kPreparing -> kReady -> kRunning -> kStopping
///         |           |          |           |
///         |           |          +-> kDraining
///         |           |                  |
///         +-----------+-----------> kRecording -> kEnded -> kDone
class Supervisor final : ServerLink::Observer, Preparation::Observer {
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
  void OnPreparationLine(bool is_error, std::string_view line) override;
  void OnProgress(v1::Progress progress) override;

  /// Makes the transition and does what it asks for, and so on with the events that this brings.
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
  /// Says why, and decides the exit.
  void ExplainFailure(const Error& error);
  /// Whether to wait for what the machine lacks; says so.
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
  UniqueFd signals_;
  SteadyTime now_;

  Lifecycle lifecycle_;
  std::optional<Preparation> preparation_;  ///< in kPreparing
  v1::FromReplica progress_;                ///< the last one of the preparation; unset: none
  std::unique_ptr<Program> program_;        ///< from kReady on
  std::optional<v1::Cluster> cluster_;
  std::optional<ProgramRun> run_;  ///< from its launch to kDraining
  ObservedEnd end_;
  v1::ExitRecord exit_;                        ///< complete from kRecording on
  std::vector<v1::MetricReport> tag_reports_;  ///< of the run that has ended
  std::optional<SteadyTime> short_since_;      ///< the machine lacks something to start the program
  SteadyTime look_at_{};                       ///< when it is looked next whether the directory is there
};

}  // namespace trainyard::replica
