#include "control/testing/simulated_replicas.h"

#include "base/wire/time.h"

namespace trainyard::control {

using replica::v1::ExitRecord;
using replica::v1::Manifest;

namespace {

/// As a program of this job ends by itself.
ExitRecord ExitOf(const JobLedger& ledger, SysTime now) {
  ExitRecord exit;
  exit.set_cause(ExitRecord::EXITED);
  exit.set_exit_code(ledger.exit_code);
  *exit.mutable_start_time() = *exit.mutable_end_time() = wire::ToProto(now);
  exit.set_log_lines(ledger.lines);
  return exit;
}

}  // namespace

SimulatedReplicas::SimulatedReplicas(Surroundings& around)
    : around_(around), host_(around.loop.get_executor()) {
  host_.SetScript([this](const Manifest& manifest) {
    job_of_[manifest.attempt_id()] = manifest.job_id();
    around_.story.Say(manifest.attempt_id(), " of ", manifest.job_id(), " is started");
    engine::FakeScript script{.exit = std::nullopt};
    const JobLedger& ledger = around_.ledgers[manifest.job_id()];
    for (int i = 0; i < ledger.lines; ++i)
      script.lines.push_back(manifest.attempt_id() + " line " + std::to_string(i));
    return script;
  });
}

std::vector<std::string> SimulatedReplicas::Running() const {
  std::vector<std::string> running = Working();
  std::erase_if(running, [this](const std::string& id) { return !running_.contains(id); });
  return running;
}

void SimulatedReplicas::EndProgram(const std::string& attempt_id) {
  around_.story.Say("the program of ", attempt_id, " ends");
  host_.End(attempt_id, ExitOf(around_.ledgers[JobOf(attempt_id)], around_.time.Now()));
}

void SimulatedReplicas::Lose(const std::string& attempt_id) {
  ++around_.ledgers[JobOf(attempt_id)].lost;
  host_.Lose(attempt_id);
}

void SimulatedReplicas::LoseAll() {
  for (const std::string& attempt_id : Alive()) Lose(attempt_id);
}

void SimulatedReplicas::Reconnect(const std::string& attempt_id) {
  around_.story.Say(attempt_id, " connects");
  host_.Reconnect(attempt_id);
}

}  // namespace trainyard::control
