#include "control/testing/simulation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rules/jobs/transition_table.h"

namespace trainyard::control {
namespace {

constexpr int kStepsMax = 200'000;
constexpr int kStepsAfterStart = 40;
constexpr int kStepsUntilStage = 100;

}  // namespace

Simulation::Simulation(SimulationGround& ground, Schedule schedule, Options options)
    : schedule_(std::move(schedule)),
      coverage_(options.coverage),
      around_(schedule_.seed, std::move(options.listener)) {
  around_.disk.SetLying(options.disk_lies);
  maker_ = std::make_unique<JobMaker>(*ground.buckets, ground.catalogue, around_.time,
                                      JobMaker::Policy{.runtime_default = "2.15",
                                                       .pythons = {{{"3.11", "/usr/bin/python3"}}},
                                                       .registries = &registry_.registries(),
                                                       .containers = {.are_here = true}});
  replicas_ = std::make_unique<SimulatedReplicas>(around_, ground.folder / "attempts");
  room_ = MakeRoom(around_, *replicas_, schedule_.seed);
  server_ = std::make_unique<SimulatedServer>(SimulatedServer::Outside{.around = around_,
                                                                       .replicas = *replicas_,
                                                                       .room = *room_,
                                                                       .maker = *maker_,
                                                                       .buckets = *ground.buckets,
                                                                       .registries = registry_.registries()});
  wire_ = std::make_unique<SimulatedWire>(around_, *server_, *room_);
  replicas_->Attach(*wire_);
  clients_ = std::make_unique<SimulatedClients>(around_, *server_);
}

Simulation::~Simulation() {
  if (server_->is_up()) KillServer();
  around_.time.SetImmediate(true);
  room_.reset();
  around_.loop.restart();
  around_.loop.poll();
  replicas_.reset();
  around_.loop.restart();
  around_.loop.poll();
}

void Simulation::KillServer() {
  around_.story.Say("the server is killed");
  EndServer();
}

void Simulation::EndServer() {
  end_at_write_.reset();
  server_->Kill();
  around_.disk.ProcessEnd();
}

void Simulation::CutPower() {
  around_.story.Say("the machine loses its power");
  end_at_write_.reset();
  if (server_->is_up()) server_->Kill();
  if (room_->is_this_machine()) replicas_->machine().PowerCut();
  around_.disk.PowerCut();
  server_->Reboot();
}

void Simulation::KillAtWrite(int writes, End end) {
  end_at_write_ = end;
  around_.disk.FailAfter(writes);
}

void Simulation::Act(const PlannedAction& planned) {
  ActionRandom random(planned.seed);
  around_.time.random().seed(random.Next());
  if (planned.action->needs_server && !server_->is_up()) StartServer(random);
  if (planned.action->needs_server && !server_->is_up()) return;
  Perform(*planned.action, random, planned.number);
}

void Simulation::StartServer(ActionRandom& random) {
  server_->Start();
  for (auto steps = random.Below(kStepsAfterStart); steps > 0; --steps) Step();
}

void Simulation::Perform(const Action& action, ActionRandom& random, int number) {
  const bool is_repair = action.kind == Action::Kind::kRepair;
  if (is_repair && !around_.faults.IsInForce(action.repairs)) return;
  const SysTime now = around_.time.TrueNow();
  if (!action.perform(*this, random, number)) return;
  if (is_repair) {
    around_.story.Say(action.name);
    return around_.faults.End(action.repairs, around_.time.TrueNow());
  }
  if (action.kind == Action::Kind::kLastingFault) around_.story.Say(action.name);
  if (action.kind != Action::Kind::kOrdinary) around_.faults.Begin(action, now);
}

std::set<std::string> Simulation::JobsIn(jobs::Stage stage) const {
  std::set<std::string> found;
  if (!server_->is_up()) return found;
  const auto add = [&](const v1::JobRecord& job) {
    const std::string& job_id = job.job().job_id();
    if (jobs::StageOf(job) == stage && around_.ledgers.contains(job_id)) found.insert(job_id);
  };
  for (const auto& [uid, runner] : server_->service().registry().all()) add(runner->job());
  for (const auto& [uid, tuner] : server_->service().tuning().all()) add(tuner->job());
  return found;
}

void Simulation::WaitFor(jobs::Stage stage) {
  for (int step = 0; step < kStepsUntilStage && around_.story.violations().empty(); ++step) {
    if (const std::set<std::string> found = JobsIn(stage); !found.empty()) {
      awaited_job_ = *found.begin();
      return;
    }
    Step();
  }
}

std::string Simulation::SomeJob(ActionRandom& random) const {
  const std::string any = random.Pick(clients_->Jobs());
  return awaited_job_.empty() ? any : awaited_job_;
}

void Simulation::Step() {
  around_.time.Step(std::chrono::seconds(1));
  if (end_at_write_ && around_.disk.is_gone()) {
    const bool is_kill = *end_at_write_ == End::kKill;
    around_.faults.Begin(FindAction(is_kill ? "the server is killed" : "the machine loses its power"),
                         around_.time.TrueNow());
    if (is_kill) KillServer();
    if (!is_kill) CutPower();
  }
  if (server_->has_given_up()) EndServer();
}

std::vector<std::string> Simulation::Run() {
  const std::vector<std::string>& violations = around_.story.violations();
  server_->Start();
  for (const PlannedAction& planned : schedule_.actions) {
    for (int step = 0; step < planned.steps && violations.empty(); ++step) Step();
    awaited_job_.clear();
    if (planned.at) WaitFor(*planned.at);
    if (violations.empty()) Act(planned);
  }
  if (violations.empty()) Settle();
  if (violations.empty()) CheckEnd();
  return violations;
}

/// All that lasts is repaired, and nothing waits to happen.
void Simulation::EndFaults() {
  around_.story.Say("the faults stop");
  ActionRandom random(schedule_.seed);
  around_.time.random().seed(random.Next());
  if (end_at_write_ && server_->is_up()) KillServer();
  for (const Action& action : Actions()) {
    if (action.kind == Action::Kind::kRepair) Perform(action, random, 0);
  }
  replicas_->machine().Calm();
  server_->SetDrained(false);
  if (!server_->is_up()) server_->Start();
}

/// Faults stop, all supervisors connect, and all programs end.
void Simulation::Settle() {
  EndFaults();
  for (int step = 0; step < kStepsMax && around_.story.violations().empty(); ++step) {
    Step();
    if (step % 100 != 0) continue;
    for (const std::string& attempt_id : replicas_->Supervised()) {
      if (step % 5'000 == 0) replicas_->machine().Reconnect(attempt_id);
    }
    for (const std::string& attempt_id : replicas_->Running()) replicas_->EndProgram(attempt_id);
    if (!server_->is_up()) server_->Start();
    if (HasEnded()) return;
  }
  if (around_.story.violations().empty()) ViolateUnended();
}

bool Simulation::HasEnded() {
  if (!server_->has_recovered() || clients_->unanswered() > 0 || !replicas_->Alive().empty() ||
      !room_->Left().empty())
    return false;
  JobService& service = server_->service();
  return service.registry().all().empty() && service.tuning().all().empty() &&
         replicas_->machine().List().empty();
}

void Simulation::ViolateUnended() {
  if (!server_->is_up()) return around_.story.Violate("no server takes over the jobs");
  std::string left = room_->Left();
  const auto add = [&left](const v1::JobRecord& job) {
    left += "; " + job.job().job_id() + (job.has_trial() ? ", trial " + job.trial().trial_id() + "," : "") +
            " is " + std::string(jobs::StageName(jobs::StageOf(job)));
  };
  for (const auto& [uid, tuner] : server_->service().tuning().all()) add(tuner->job());
  for (const auto& [uid, runner] : server_->service().registry().all()) {
    add(runner->job());
    if (const auto waiting = runner->WhyWaiting()) left += ": " + waiting->reason;
  }
  for (const engine::AttemptRef& attempt : replicas_->machine().List())
    left += "; " + attempt.id + " is left";
  around_.story.Violate("not everything ends" + left);
}

/// Notes which events of a job were met with which faults.
void Simulation::Meet(const JobHistory& history, SysTime asked_at) {
  if (coverage_ == nullptr) return;
  std::vector<SysTime> times;
  for (const JobHistory::Entry& entry : history.entries)
    times.push_back(around_.time.TrueTimeOf(entry.time, times.empty() ? asked_at : times.back()));
  coverage_->AddJob(history, times, asked_at, around_.faults);
}

void Simulation::AddTrials(JobOutcome& outcome, SysTime asked_at) {
  constexpr int kTrialsMax = 100;
  if (!outcome.record->has_tuning()) return;
  outcome.trials = server_->reader().Trials(outcome.record->uid(), 0, kTrialsMax).value();
  for (const v1::JobRecord& trial : outcome.trials) {
    outcome.histories_of_trials.push_back(Replay(server_->reader().Events(trial.uid(), 0).value()));
    Meet(outcome.histories_of_trials.back(), asked_at);
  }
}

void Simulation::CheckEnd() {
  for (const std::string& violation : replicas_->intruder().TakeViolations())
    around_.story.Violate(violation);
  store::JobStore& reader = server_->reader();
  for (const auto& [job_id, ledger] : around_.ledgers) {
    JobOutcome outcome{.record = reader.Get("p", job_id)};
    if (outcome.record) {
      outcome.history = Replay(reader.Events(outcome.record->uid(), 0).value());
      outcome.lines = clients_->LinesOf(job_id);
      outcome.outputs = replicas_->OutputsOf(job_id);
      if (std::ranges::find(outcome.lines, engine::Intruder::kLine) != outcome.lines.end())
        around_.story.Violate(job_id + " has a line of an intruder");
      Meet(outcome.history, ledger.asked_at);
      AddTrials(outcome, ledger.asked_at);
    }
    for (std::string& violation : Violations(job_id, ledger, outcome))
      around_.story.Violate(std::move(violation));
  }
  if (coverage_ != nullptr) coverage_->supervisors.Add(replicas_->machine().coverage());
}

}  // namespace trainyard::control
