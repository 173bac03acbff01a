#include "control/testing/simulated_replicas.h"

#include <chrono>
#include <csignal>

#include "base/wire/time.h"

namespace trainyard::control {

using engine::SimulatedMachine;
using engine::SimulatedProgram;
using replica::v1::Manifest;
using std::chrono::milliseconds;

namespace {

replica::v1::MetricReport SomeMeasurement(SysTime now) {
  replica::v1::MetricReport report;
  replica::v1::Measurement& measurement = *report.add_measurements();
  measurement.set_step(1);
  measurement.set_value(1);
  *measurement.mutable_time() = wire::ToProto(now);
  report.set_place("/tmp/hypertune/output.metrics");
  return report;
}

}  // namespace

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

std::unique_ptr<engine::SimulatedAttemptHost> SimulatedReplicas::MakeHost() {
  return std::make_unique<engine::SimulatedAttemptHost>(around_.loop.get_executor(), machine_);
}

SimulatedProgram SimulatedReplicas::MakeProgram(const Manifest& manifest) {
  const std::string& id = manifest.attempt_id();
  job_of_[id] = manifest.job_id();
  intruder_->Learn(id, manifest.token());
  around_.story.Say(id, " of ", manifest.job_id(), " is started");
  const auto up_to = [this](std::size_t ms) { return milliseconds(around_.Below(ms)); };
  SimulatedProgram program{.preparation = up_to(2'000),
                           .line_pause = up_to(200),
                           .ignores_sigterm = around_.Below(8) == 0,
                           .clean_up = up_to(3'000)};
  JobLedger& ledger = around_.ledgers[manifest.job_id()];
  program.lacks_memory = ledger.shortages > 0;
  if (ledger.shortages > 0) --ledger.shortages;
  if (!ledger.prepares) program.preparation_error = FailedPrecondition("the package cannot be installed");
  for (int i = 0; i < ledger.lines; ++i) program.lines.push_back(id + " line " + std::to_string(i));
  if (ledger.crashes == 0 && around_.Below(4) == 0)
    program.wait_status = engine::ExitedWith(ledger.exit_code);
  if (!manifest.metric_tag().empty()) program.metrics = SomeMeasurement(around_.time.Now());
  return program;
}

std::vector<std::string> SimulatedReplicas::Supervised() const {
  std::vector<std::string> ids = Alive();
  std::erase_if(ids, [this](const std::string& id) { return !machine_.StateOf(id); });
  return ids;
}

std::vector<std::string> SimulatedReplicas::Running() const {
  std::vector<std::string> ids = machine_.Working();
  std::erase_if(ids, [this](const std::string& id) {
    return machine_.StateOf(id) != SimulatedMachine::State::kRunning;
  });
  return ids;
}

std::string SimulatedReplicas::JobOf(const std::string& attempt_id) const {
  const auto job = job_of_.find(attempt_id);
  return job == job_of_.end() ? "" : job->second;
}

void SimulatedReplicas::EndProgram(const std::string& attempt_id) {
  JobLedger& ledger = around_.ledgers[JobOf(attempt_id)];
  const bool crashes = ledger.crashes > 0;
  if (!machine_.End(attempt_id, crashes ? engine::KilledBy(SIGSEGV) : engine::ExitedWith(ledger.exit_code)))
    return;
  around_.story.Say("the program of ", attempt_id, crashes ? " crashes" : " ends");
  if (!crashes) return;
  --ledger.crashes;
  ++ledger.lost;
}

std::map<std::string, AttemptOutput> SimulatedReplicas::OutputsOf(const std::string& job_id) const {
  std::map<std::string, AttemptOutput> outputs;
  for (const auto& [attempt_id, output] : machine_.outputs()) {
    if (JobOf(attempt_id) == job_id)
      outputs[attempt_id] = {.written = output.written, .promised = output.promised};
  }
  return outputs;
}

void SimulatedReplicas::OnFault(std::string_view fault, const std::string& attempt_id, std::string_view state,
                                bool ends) {
  constexpr const char* kStart = "a start fails";  // which was planned before
  if (fault.starts_with(kStart)) around_.faults.Begin(FindAction(kStart), around_.time.TrueNow());
  const std::string where = state.empty() ? attempt_id : attempt_id + ", " + std::string(state);
  around_.story.Say(where, where.empty() ? "" : ": ", std::string(fault));
  const Manifest* const manifest = machine_.ManifestOf(attempt_id);
  if (ends && manifest != nullptr) ++around_.ledgers[manifest->job_id()].lost;
}

}  // namespace trainyard::control
