#include "control/testing/simulated_replicas.h"

#include "base/wire/time.h"

namespace trainyard::control {

using replica::v1::ExitRecord;
using replica::v1::Manifest;

namespace {

constexpr int kSegmentationFault = 11;

/// How its preparation ends, if not with a program that runs.
std::optional<ExitRecord> PreparationOf(JobLedger& ledger, SysTime now) {
  if (ledger.prepares && ledger.shortages == 0) return std::nullopt;
  ExitRecord exit;
  exit.set_cause(ExitRecord::PREPARATION_FAILED);
  exit.set_shortage(ledger.shortages > 0);
  exit.set_message(exit.shortage() ? "The machine is short of memory." : "The package cannot be installed.");
  *exit.mutable_end_time() = wire::ToProto(now);
  exit.set_log_lines(0);
  if (ledger.shortages > 0) --ledger.shortages;
  return exit;
}

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

SimulatedReplicas::SimulatedReplicas(Surroundings& around)
    : around_(around), host_(around.loop.get_executor()) {
  host_.SetScript([this](const Manifest& manifest) {
    attempts_[manifest.attempt_id()] = {.job_id = manifest.job_id(),
                                        .reports = !manifest.metric_tag().empty()};
    around_.story.Say(manifest.attempt_id(), " of ", manifest.job_id(), " is started");
    engine::FakeScript script{.exit = std::nullopt};
    JobLedger& ledger = around_.ledgers[manifest.job_id()];
    script.preparation = PreparationOf(ledger, around_.time.Now());
    for (int i = 0; i < ledger.lines; ++i)
      script.lines.push_back(manifest.attempt_id() + " line " + std::to_string(i));
    return script;
  });
}

std::vector<std::string> SimulatedReplicas::Running() const {
  std::vector<std::string> running = Working();
  std::erase_if(running, [this](const std::string& id) { return !attempts_.at(id).is_running; });
  return running;
}

/// As its program ends by itself.
ExitRecord SimulatedReplicas::ExitOf(const std::string& attempt_id) {
  const Attempt& attempt = attempts_.at(attempt_id);
  JobLedger& ledger = around_.ledgers[attempt.job_id];
  const SysTime now = around_.time.Now();
  ExitRecord exit;
  *exit.mutable_start_time() = *exit.mutable_end_time() = wire::ToProto(now);
  exit.set_log_lines(attempt.is_running ? ledger.lines : 0);
  if (attempt.reports) *exit.mutable_metrics() = SomeMeasurement(now);
  if (ledger.crashes > 0) {
    --ledger.crashes;
    ++ledger.lost;
    exit.set_cause(ExitRecord::SIGNALED);
    exit.set_signal(kSegmentationFault);
  } else {
    exit.set_cause(ExitRecord::EXITED);
    exit.set_exit_code(ledger.exit_code);
  }
  return exit;
}

void SimulatedReplicas::EndProgram(const std::string& attempt_id) {
  around_.story.Say("the program of ", attempt_id, " ends");
  host_.End(attempt_id, ExitOf(attempt_id));
}

void SimulatedReplicas::ShutDown(const std::string& attempt_id) {
  around_.story.Say("the machine ends ", attempt_id);
  ExitRecord exit;
  exit.set_cause(ExitRecord::SHUT_DOWN);
  *exit.mutable_end_time() = wire::ToProto(around_.time.Now());
  if (attempts_.at(attempt_id).is_running) *exit.mutable_start_time() = exit.end_time();
  exit.set_log_lines(attempts_.at(attempt_id).is_running ? around_.ledgers[JobOf(attempt_id)].lines : 0);
  host_.End(attempt_id, std::move(exit));
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
