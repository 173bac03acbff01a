#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "rules/jobs/decide.h"
#include "rules/jobs/service_lines.h"
#include "rules/jobs/together.h"

namespace trainyard::jobs {

/// For tests: a job, and a simulated world that performs the rules' actions as the control loop does. Fails
/// the test when an action is impossible: a replica started while its previous attempt runs, an event that
/// the table refuses, an action performed twice, steps (together.h) that differ from what the rules decide
/// one after the other.
class SimulatedJob {
 public:
  /// `input`: a TrainingInput in protobuf's text form.
  explicit SimulatedJob(const std::string& input);

  /// Performs actions until the rules only wait. Returns the actions and events, in order: "Admitted", "start
  /// master 0", "open worker 1", "stop ps 0", "move ps 0", "hurry ps 0", "kill ps 0", event names.
  std::vector<std::string> Settle();

  // Events in the world; `replica` is a position in the record.
  void Admit();
  /// The engine revokes the resources: all running replicas are lost.
  void Revoke(const std::string& reason);
  void Reach(int replica, replica::v1::Phase phase);
  /// The replica's attempt has ended: now, or some time ago, and the server hears of it only now.
  void End(int replica, replica::v1::ExitRecord::Cause cause, int status = 0,
           std::chrono::nanoseconds ago = {});
  void Cancel(const std::string& reason);
  /// A request for maintenance of the replica; ignored if the replica does not run.
  void Maintain(int replica);
  void Pass(std::chrono::nanoseconds time) { now_ += time; }
  /// Brings all replicas to RUNNING: admits, settles, lets everything start.
  void BringUp();
  /// The server is killed and restarted: its memory is lost; supervisors are found alive and send Hello
  /// later.
  void RestartServer();
  /// As if the server is killed between recording Launched and starting: the next Settle loses the starts.
  void LoseNextStarts() { lose_starts_ = true; }
  /// The replica's supervisor is not connected any more.
  void Detach(int replica) { Seen(replica).away = true; }
  /// Sets the reason why nothing may be started; empty: starts are possible again.
  void FillDisk(std::string why) { seen_.disk_full = std::move(why); }
  /// Supervisors that the server found alive send Hello.
  void Reconnect(int replica);

  [[nodiscard]] const control::v1::JobRecord& job() const { return job_; }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] const std::vector<control::v1::Event>& events() const { return events_; }
  [[nodiscard]] bool IsAlive(int replica) const { return attempts_[static_cast<std::size_t>(replica)].alive; }
  [[nodiscard]] bool IsStopping(int replica) const;
  /// Whether the replica was sent the cluster, so that its program runs.
  [[nodiscard]] bool IsOpen(int replica) const;
  [[nodiscard]] bool AnyAlive() const;
  [[nodiscard]] bool ended() const { return job_.job().has_end_time(); }
  [[nodiscard]] SysTime now() const { return now_; }
  [[nodiscard]] std::optional<SysTime> wake_time() const { return wake_time_; }
  [[nodiscard]] int starts() const { return starts_; }
  void Record(control::v1::Event event);

 private:
  void ExpectAsForetold(const control::v1::Event& event);

  /// The real state of one replica's supervisor, which outlives servers.
  struct Attempt {
    int number = 0;
    bool alive = false;
    replica::v1::Phase phase = replica::v1::PHASE_UNSPECIFIED;
    std::optional<replica::v1::ExitRecord> exit;
  };

  void Perform(const AppendEvent& action, std::vector<std::string>& done);
  void Perform(const ResolveImages& action, std::vector<std::string>& done);
  void Perform(const ReserveRoom& action, std::vector<std::string>& done);
  void Perform(const StartReplica& action, std::vector<std::string>& done);
  void Perform(const OpenBarrier& action, std::vector<std::string>& done);
  void Perform(const StopReplica& action, std::vector<std::string>& done);
  void Perform(const MeasureTrial& action, std::vector<std::string>& done);
  void Perform(const WakeAt& action, std::vector<std::string>& done);
  ReplicaObservation& Seen(int replica) { return seen_.replicas[static_cast<std::size_t>(replica)]; }
  Attempt& Truth(int replica) { return attempts_[static_cast<std::size_t>(replica)]; }
  void SayEndpoint(int replica);
  [[nodiscard]] std::string Label(int replica) const;

  control::v1::JobRecord job_;
  Observation seen_;
  std::vector<Attempt> attempts_;
  std::vector<std::string> lines_;
  std::vector<control::v1::Event> events_;
  std::deque<control::v1::Event> foretold_;  ///< the next events, which are stored with the last one
  SysTime now_;
  std::optional<SysTime> wake_time_;
  bool lose_starts_ = false;
  int starts_ = 0;
};

}  // namespace trainyard::jobs
