#pragma once

#include <map>
#include <string>
#include <vector>

#include "control/testing/surroundings.h"
#include "engine/fake/fake_attempt_host.h"

namespace trainyard::control {

/// The supervisors and programs of all attempts. They outlive the server. What a program does is in its job's
/// ledger. Loop thread only.
class SimulatedReplicas {
 public:
  explicit SimulatedReplicas(Surroundings& around);

  /// To which the supervisors talk. Call it before the first server starts.
  void Attach(engine::ReplicaLinkObserver& wire) { host_.Attach(wire); }
  [[nodiscard]] engine::AttemptHost& host() noexcept { return host_; }

  /// The ids of attempts whose supervisors live; of those, whose programs have not ended; of those, whose
  /// programs run.
  [[nodiscard]] std::vector<std::string> Alive() const { return host_.Alive(); }
  [[nodiscard]] std::vector<std::string> Working() const { return host_.Working(); }
  [[nodiscard]] std::vector<std::string> Running() const;
  [[nodiscard]] const std::string& JobOf(const std::string& attempt_id) const {
    return attempts_.at(attempt_id).job_id;
  }

  /// How many attempts were started so far.
  [[nodiscard]] std::size_t started() const noexcept { return attempts_.size(); }
  /// The program has begun: its supervisor says so.
  void NoteRunning(const std::string& attempt_id) { attempts_.at(attempt_id).is_running = true; }
  /// The program ends by itself, as its job's ledger says.
  void EndProgram(const std::string& attempt_id);
  /// Its machine tells the supervisor to end.
  void ShutDown(const std::string& attempt_id);
  /// The supervisor and its program are killed.
  void Lose(const std::string& attempt_id);
  void LoseAll();
  /// All attempts of the node are gone with it.
  void LoseNode(const std::string& node) { host_.LoseNode(node); }
  /// The supervisor loses its connection, and connects again.
  void Reconnect(const std::string& attempt_id);

 private:
  Surroundings& around_;
  engine::FakeAttemptHost host_;
  struct Attempt {
    std::string job_id;
    bool reports = false;     ///< its program reports a metric: it is a trial's
    bool is_running = false;  ///< its program has begun
  };
  [[nodiscard]] replica::v1::ExitRecord ExitOf(const std::string& attempt_id);

  std::map<std::string, Attempt> attempts_;  ///< all that were ever started
};

}  // namespace trainyard::control
