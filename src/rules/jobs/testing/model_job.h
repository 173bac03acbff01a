#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rules/jobs/decide.h"

namespace trainyard::jobs {

/// The faults of a model, as bits of a mask. Each happens at most once in a history.
enum Fault : unsigned {
  kServerCrash = 1,     ///< the server's memory is lost; supervisors go on
  kSupervisorKill = 2,  ///< an attempt ends without an exit record
  kProgramFailure = 4,  ///< a program ends with status 1 by itself
  kMachineLoss = 8,     ///< all attempts on a machine end, and the engine takes its slots back
  kLinkCut = 16,        ///< orders on their way to a supervisor are lost; it connects again
  kCancel = 32,         ///< a user cancels the job
  kMaintenance = 64,    ///< an operator moves a replica
};

/// One job as a value: its record, what the server knows of its replicas, and the truth about them. The time
/// is always kNow: when time passes, all times of the job become older instead. So the same situation at
/// another time is an equal value, and the number of values is finite. For exhaustive tests of the rules.
struct ModelJob {
  static constexpr SysTime kNow{std::chrono::seconds{1'700'000'000}};
  static constexpr int kMachines = 2;  ///< each has one slot

  enum class End { kNone, kOk, kFailed, kStopped, kLost };
  /// What is true of a replica's latest attempt, whoever knows it.
  struct Attempt {
    int number = 0;  ///< 0: none was ever started
    int of_try = 0;
    int machine = 0;
    replica::v1::Phase phase = replica::v1::PHASE_UNSPECIFIED;
    End end = End::kNone;
    bool has_cluster = false;   ///< the order to run has reached it
    bool has_stop = false;      ///< the order to stop has reached it
    bool lost_peer = false;     ///< its program may fail, because a peer of it has ended
    std::int64_t end_time = 0;  ///< nanoseconds since the epoch
    [[nodiscard]] bool alive() const { return number > 0 && end == End::kNone; }
  };

  /// A new job with so many workers beside its master.
  explicit ModelJob(int workers);

  control::v1::JobRecord record;
  Observation seen;
  std::vector<Attempt> truth;  ///< by replica
  int lost_try = 0;            ///< the latest try that the engine has to take back; 0: none
  bool has_failed = false;     ///< a program of it failed by itself
  bool is_cancelled = false;

  [[nodiscard]] bool ended() const { return record.job().has_end_time(); }
  [[nodiscard]] bool IsCurrent(int replica) const;
  /// Whether the server does not know yet how far the attempt has come, and its supervisor or remains can
  /// say.
  [[nodiscard]] bool IsNews(int replica) const;
  /// Machines whose slot the job holds: granted to it, or an attempt of it lives there. Bits.
  [[nodiscard]] unsigned Held() const;
  /// Machines on which an attempt of it lives. Bits.
  [[nodiscard]] unsigned Living() const;
  /// Equal for equal values, and only for them.
  [[nodiscard]] std::string Key() const;
  /// For messages: the stage and each replica's attempt.
  [[nodiscard]] std::string Describe() const;
};

/// One step of a job alone, and what it needs.
struct ModelStep {
  std::string label;
  unsigned fault = 0;       ///< the fault that it is; 0: none
  unsigned needs_up = 0;    ///< machines that must be up
  unsigned needs_free = 0;  ///< machines on which no job may hold the slot
  ModelJob next;
  std::string broken{};  ///< the invariant that does not hold any more; empty: all hold
};
/// What may happen to the job without a fault.
[[nodiscard]] std::vector<ModelStep> StepsOf(const ModelJob& job);
/// The faults that may happen to it alone.
[[nodiscard]] std::vector<ModelStep> FaultsOf(const ModelJob& job);

/// How far time must pass until the rules do something else; nullopt: nothing waits for that. Zero: a message
/// is on its way, which takes less time than any pause of the rules.
[[nodiscard]] std::optional<std::chrono::nanoseconds> UntilWake(const ModelJob& job);
[[nodiscard]] ModelJob AfterPassing(ModelJob job, std::chrono::nanoseconds time);
[[nodiscard]] ModelJob AfterServerCrash(ModelJob job);
[[nodiscard]] ModelJob AfterMachineLoss(ModelJob job, int machine);

}  // namespace trainyard::jobs
