#pragma once

#include <map>
#include <set>
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
    return job_of_.at(attempt_id);
  }

  /// The program has begun: its supervisor says so.
  void NoteRunning(const std::string& attempt_id) { running_.insert(attempt_id); }
  /// The program ends by itself, as its job's ledger says.
  void EndProgram(const std::string& attempt_id);
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
  std::map<std::string, std::string> job_of_;  ///< by attempt
  std::set<std::string> running_;              ///< attempts whose programs have begun
};

}  // namespace trainyard::control
