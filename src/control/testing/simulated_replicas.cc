#include "control/testing/simulated_replicas.h"

#include <algorithm>
#include <chrono>

namespace trainyard::control {

using engine::SimulatedMachine;
using engine::SimulatedProgram;
using replica::v1::Manifest;
using std::chrono::milliseconds;

SimulatedReplicas::SimulatedReplicas(Surroundings& around, const std::filesystem::path& folder)
    : around_(around),
      machine_(
          {.loop = around.loop.get_executor(), .random = around.time.random(), .folder = folder.string()}) {
  machine_.SetWatcher(*this);
  machine_.SetScript([this](const Manifest& manifest) { return MakeProgram(manifest); });
}

void SimulatedReplicas::Attach(engine::ReplicaLinkObserver& wire) {
  machine_.Attach(wire);
  intruder_ = std::make_unique<engine::Intruder>(around_.loop.get_executor(), around_.time.random(), wire);
}

engine::AttemptHost& SimulatedReplicas::StartHost() {
  host_ = std::make_unique<engine::SimulatedAttemptHost>(around_.loop.get_executor(), machine_);
  return *host_;
}

void SimulatedReplicas::EndHost() {
  machine_.CutConnections();
  host_.reset();
}

SimulatedProgram SimulatedReplicas::MakeProgram(const Manifest& manifest) {
  job_of_[manifest.attempt_id()] = manifest.job_id();
  intruder_->Learn(manifest.attempt_id(), manifest.token());
  around_.story.Say(manifest.attempt_id(), " of ", manifest.job_id(), " is started");
  const auto up_to = [this](std::size_t ms) { return milliseconds(around_.Below(ms)); };
  SimulatedProgram program{.preparation = up_to(2'000),
                           .line_pause = up_to(200),
                           .ignores_sigterm = around_.Below(8) == 0,
                           .clean_up = up_to(3'000)};
  const JobLedger& ledger = around_.ledgers[manifest.job_id()];
  for (int i = 0; i < ledger.lines; ++i)
    program.lines.push_back(manifest.attempt_id() + " line " + std::to_string(i));
  if (around_.Below(4) == 0) program.exit_code = ledger.exit_code;
  if (ledger.exit_code != 0 && around_.Below(4) == 0)
    program.preparation_error = FailedPrecondition("the packages cannot be installed");
  return program;
}

std::string SimulatedReplicas::JobOf(const std::string& attempt_id) const {
  const auto job = job_of_.find(attempt_id);
  return job == job_of_.end() ? "" : job->second;
}

std::vector<std::string> SimulatedReplicas::Running() const {
  std::vector<std::string> running = Working();
  std::erase_if(running, [this](const std::string& id) {
    return machine_.StateOf(id) != SimulatedMachine::State::kRunning;
  });
  return running;
}

void SimulatedReplicas::EndProgram(const std::string& attempt_id) {
  around_.story.Say("the program of ", attempt_id, " ends");
  machine_.End(attempt_id, around_.ledgers[JobOf(attempt_id)].exit_code);
}

void SimulatedReplicas::OnFault(std::string_view fault, const std::string& attempt_id, std::string_view state,
                                bool ends) {
  if (attempt_id.empty()) return around_.story.Say(std::string(fault));
  around_.story.Say(attempt_id, ", ", std::string(state), ": ", std::string(fault));
  const Manifest* const manifest = machine_.ManifestOf(attempt_id);
  if (ends && manifest != nullptr) ++around_.ledgers[manifest->job_id()].lost;
}

std::vector<std::string> SimulatedReplicas::LineViolations(const std::string& job_id,
                                                           const std::vector<std::string>& log) const {
  std::map<std::string, int> found;
  for (const std::string& line : log) ++found[line.substr(0, line.find(" line "))];
  std::vector<std::string> broken;
  if (std::ranges::find(log, engine::Intruder::kLine) != log.end())
    broken.push_back("has a line of an intruder");
  for (const auto& [attempt_id, output] : machine_.outputs()) {
    if (JobOf(attempt_id) != job_id) continue;
    const int lines = found[attempt_id];
    if (lines < output.promised || lines > output.written)
      broken.push_back("has " + std::to_string(lines) + " lines of " + attempt_id + ", which wrote " +
                       std::to_string(output.written) + ", of which " + std::to_string(output.promised) +
                       " must be there");
  }
  for (std::string& what : broken) what.insert(0, job_id + " ");
  return broken;
}

}  // namespace trainyard::control
