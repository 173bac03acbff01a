#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "control/testing/surroundings.h"
#include "engine/testing/intruder.h"
#include "engine/testing/simulated_attempt_host.h"
#include "engine/testing/simulated_machine.h"

namespace trainyard::control {

/// The supervisors and programs of all attempts, on one simulated machine. They outlive the server. What a
/// program does is in its job's ledger. Loop thread only.
class SimulatedReplicas final : engine::SimulatedMachine::Watcher {
 public:
  /// @param folder  for the attempts' directories; made and removed
  SimulatedReplicas(Surroundings& around, const std::filesystem::path& folder);

  /// To which the supervisors talk. Call it before the first server starts.
  void Attach(engine::ReplicaLinkObserver& wire);
  /// A server's side of it, from its start to its end.
  [[nodiscard]] engine::AttemptHost& StartHost();
  void EndHost();
  [[nodiscard]] engine::SimulatedMachine& machine() noexcept { return machine_; }
  /// Knows the tokens of all attempts that were started.
  [[nodiscard]] engine::Intruder& intruder() noexcept { return *intruder_; }

  /// The ids of attempts of which a process lives; of those, whose programs have not ended; of those, whose
  /// programs run.
  [[nodiscard]] std::vector<std::string> Alive() const { return machine_.Alive(); }
  [[nodiscard]] std::vector<std::string> Working() const { return machine_.Working(); }
  [[nodiscard]] std::vector<std::string> Running() const;
  /// Empty: its supervisor ended before it had done anything.
  [[nodiscard]] std::string JobOf(const std::string& attempt_id) const;

  /// The program ends by itself, as its job's ledger says.
  void EndProgram(const std::string& attempt_id);
  /// The supervisor loses its connection, and connects again.
  void Reconnect(const std::string& attempt_id) { machine_.Reconnect(attempt_id); }

  /// One sentence for each program of the job some of whose lines are not in its log, for each that wrote
  /// fewer than are there, and for what an intruder wrote.
  [[nodiscard]] std::vector<std::string> LineViolations(const std::string& job_id,
                                                        const std::vector<std::string>& log) const;

 private:
  void OnFault(std::string_view fault, const std::string& attempt_id, std::string_view state,
               bool ends) override;
  void OnEvent(std::string_view, std::string_view) override {}
  void OnViolation(std::string what) override { around_.story.Violate(std::move(what)); }
  engine::SimulatedProgram MakeProgram(const replica::v1::Manifest& manifest);

  Surroundings& around_;
  engine::SimulatedMachine machine_;
  std::unique_ptr<engine::SimulatedAttemptHost> host_;  ///< null: no server
  std::unique_ptr<engine::Intruder> intruder_;
  std::map<std::string, std::string> job_of_;  ///< by attempt
};

}  // namespace trainyard::control
