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

  /// To which the supervisors and the intruder talk. Call it before the first server starts.
  void Attach(engine::ReplicaLinkObserver& wire);
  /// A server's side of the machine; the server before has ended, and with it this.
  [[nodiscard]] std::unique_ptr<engine::SimulatedAttemptHost> MakeHost();
  [[nodiscard]] engine::SimulatedMachine& machine() noexcept { return machine_; }
  /// Knows the tokens of all attempts that were started.
  [[nodiscard]] engine::Intruder& intruder() noexcept { return *intruder_; }

  /// The ids of attempts of which a process lives; of those that have a supervisor; of those whose programs
  /// run.
  [[nodiscard]] std::vector<std::string> Alive() const { return machine_.Alive(); }
  [[nodiscard]] std::vector<std::string> Supervised() const;
  [[nodiscard]] std::vector<std::string> Running() const;
  /// Empty: its supervisor ended before it had done anything.
  [[nodiscard]] std::string JobOf(const std::string& attempt_id) const;

  /// The program ends by itself, as its job's ledger says.
  void EndProgram(const std::string& attempt_id);

  /// The lines that the programs of the job's ended attempts wrote.
  [[nodiscard]] std::map<std::string, AttemptOutput> OutputsOf(const std::string& job_id) const;

 private:
  void OnFault(std::string_view fault, const std::string& attempt_id, std::string_view state,
               bool ends) override;
  void OnViolation(std::string what) override { around_.story.Violate(std::move(what)); }
  engine::SimulatedProgram MakeProgram(const replica::v1::Manifest& manifest);

  Surroundings& around_;
  engine::SimulatedMachine machine_;
  std::unique_ptr<engine::Intruder> intruder_;
  std::map<std::string, std::string> job_of_;  ///< by attempt
};

}  // namespace trainyard::control
