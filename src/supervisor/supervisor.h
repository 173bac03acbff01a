#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attempt/attempt_dir.h"
#include "attempt/spool.h"
#include "lines/log_writer.h"
#include "runtimes/exit_rules.h"
#include "supervisor/gpu_probe.h"
#include "supervisor/metric_watch.h"
#include "supervisor/preparation.h"
#include "supervisor/server_link.h"
#include "supervisor/usage.h"
#include "supervisor/user_process.h"

namespace trainyard::replica {

/// What may lie on disk unacknowledged. Beyond it the user's process waits in its writes until the server
/// takes lines, but not for longer than kOutputWaitMax.
inline constexpr std::int64_t kSpoolBytesMax = std::int64_t{256} << 20;
/// How long a full spool or a full disk may hold the user's process back. Then its output is read and dropped
/// until there is room: training goes on, and the log says what it lacks.
inline constexpr std::chrono::milliseconds kOutputWaitMax{60'000};
/// Lines wait this long for company, unless there was a pause before.
inline constexpr std::chrono::milliseconds kBatchWait{5};
/// Between tries at what a full disk refuses.
inline constexpr std::chrono::milliseconds kDiskRetry{100};
/// How long a supervisor that the system ends (SIGTERM) waits for the server to take the rest.
inline constexpr std::chrono::milliseconds kShutdownWaitMax{5'000};
/// When what the program uses is measured for the first time, and how often then.
inline constexpr std::chrono::milliseconds kFirstUsageAfter{1'000};
inline constexpr std::chrono::milliseconds kUsageInterval{10'000};

struct SupervisorOptions {
  std::int64_t spool_bytes_max = kSpoolBytesMax;
  std::chrono::milliseconds output_wait_max = kOutputWaitMax;
  Isolation best_isolation = Isolation::kNamespaces;
};

/// Owns one attempt of one replica from what its program runs in to the exit record. One thread, one poll
/// loop.
///
///     PREPARING --prepared--> READY --Cluster--> RUNNING --all ended--> ENDED --Dismiss--> done
///         \___________________________\____ Stop or failure __________________/
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

  /// Returns when the server has dismissed the attempt, or after a SIGTERM once the attempt has ended.
  void Run();

 private:
  void OnAttached() override;
  void OnFrame(const v1::ToReplica& frame) override;
  void OnLost() override;
  void OnPreparationLine(bool is_error, std::string_view line) override;

  void Prepare();
  void BecomeReady(Prepared prepared);
  void FailPreparation(const Error& error);
  void LaunchIfReady();
  [[nodiscard]] ProgramStart StartOf() const;
  void RequestStop(std::string_view reason, bool kill);
  void OnSignals();
  void OnPreparation();
  void OnProcessEnded();
  void OnOutput(Stream stream);
  void CountMemory();
  void MeasureUsage();
  void SendUsage();
  void OnGpuProbe();
  void StepMetrics();
  void SendMetrics();
  void FinishProcess();
  void End(v1::ExitRecord exit);
  void RecordExit();
  void Advance(v1::Phase phase);
  void SendPhase();

  [[nodiscard]] bool IsAbandoned() const;
  void Round();
  void StepTimers();
  void FlushLog();
  void PumpLink();
  void StepOutput();
  [[nodiscard]] bool CanStore() const;
  [[nodiscard]] bool MayRead() const;
  [[nodiscard]] int PollWait() const;

  Setup setup_;
  ProgramSource& source_;
  LogWriter log_;
  ServerLink link_;
  UniqueFd signals_;
  SteadyTime now_;

  v1::Phase phase_ = v1::PREPARING;
  std::optional<Preparation> preparation_;
  std::unique_ptr<Program> program_;  ///< once it can be run
  std::optional<v1::Cluster> cluster_;
  std::optional<UserProcess> process_;
  bool process_ended_ = false;
  ObservedEnd end_;
  UsageMeter usage_;
  v1::FromReplica usage_frame_;  ///< measured, but for the GPUs
  std::optional<GpuProbe> gpu_probe_;
  std::optional<MetricWatch> metrics_;  ///< of a trial's master, while its program may write
  std::int64_t machine_oom_kills_ =
      -1;  ///< when counting the replica's own was refused; -1: they are counted
  v1::ExitRecord exit_;
  bool ending_ = false;  ///< exit_ is complete; to be written after the last line
  bool exit_sent_ = false;
  bool says_container_left_ = false;
  bool dismissed_ = false;
  bool shutting_down_ = false;

  SteadyTime last_flush_{};
  SteadyTime disk_full_since_ = SteadyTime::max();  ///< max: it is not
  SteadyTime retry_disk_ = SteadyTime::max();
  SteadyTime drop_output_at_ = SteadyTime::max();  ///< max: output can be stored, or is dropped already
  SteadyTime count_memory_at_ = SteadyTime::max();
  SteadyTime measure_usage_at_ = SteadyTime::max();
  SteadyTime kill_deadline_ = SteadyTime::max();
  SteadyTime drain_deadline_ = SteadyTime::max();
  SteadyTime shutdown_deadline_ = SteadyTime::max();
  std::string buffer_;
};

}  // namespace trainyard::replica
