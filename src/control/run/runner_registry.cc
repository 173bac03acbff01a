#include "control/run/runner_registry.h"

#include <optional>
#include <utility>

#include "control/run/manifest.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::control {

RunnerRegistry::RunnerRegistry(Collaborators& outside)
    : outside_(outside), tuning_(outside, *this), added_(outside.loop), tasks_(outside.loop) {}

RunnerRegistry::~RunnerRegistry() {
  stopping_ = true;
  for (const auto& [uid, runner] : runners_) {
    runner->Watch(nullptr);
    runner->Cancel();
  }
  tuning_.Clear();
}

void RunnerRegistry::Start(v1::JobRecord job, std::vector<jobs::ServiceLine> lines,
                           TuningJobs::Resumed resumed) {
  const std::int64_t uid = job.uid();
  if (job.has_tuning()) {
    TuningRunner& tuner = tuning_.Add(std::move(job), 0, std::move(resumed));
    tuner.SayAgain(std::move(lines));
    tuner.Start(OnTuningDone(uid));
    return;
  }
  JobRunner& runner = Add(std::move(job), 0);
  runner.SayAgain(std::move(lines));
  runner.Start(OnDone(uid));
}

void RunnerRegistry::TakeOver(std::vector<PreviousJob> jobs,
                              const std::map<std::int64_t, std::vector<engine::AttemptRef>>& attempts) {
  for (PreviousJob& one : jobs) {
    if (!one.job.has_tuning()) Add(one.job, one.lines_stored).SayAgain(std::move(one.lines_left));
  }
  for (PreviousJob& one : jobs) {  // they must get their trials' events from the beginning
    if (one.job.has_tuning()) TakeOverTuning(std::move(one));
  }
  for (const auto& [uid, runner] : runners_) {
    const auto found = attempts.find(uid);
    runner->TakeOver(found == attempts.end() ? std::vector<engine::AttemptRef>() : found->second,
                     OnDone(uid));
  }
}

void RunnerRegistry::TakeOverTuning(PreviousJob previous) {
  const std::int64_t uid = previous.job.uid();
  TuningRunner& runner =
      tuning_.Add(std::move(previous.job), previous.lines_stored, std::move(previous.resumed));
  runner.SayAgain(std::move(previous.lines_left));
  runner.TakeOver(previous.events, previous.trials);
  runner.Start(OnTuningDone(uid));
}

JobRunner& RunnerRegistry::Add(v1::JobRecord job, std::int64_t service_lines) {
  std::int64_t uid = job.uid();
  auto [added, is_new] =
      runners_.emplace(uid, std::make_unique<JobRunner>(outside_, std::move(job), service_lines));
  added_.Set();
  added_.Reset();
  return *added->second;
}

JobRunner* RunnerRegistry::Find(std::int64_t uid) const {
  const auto found = runners_.find(uid);
  return found == runners_.end() ? nullptr : found->second.get();
}

RunnerRegistry::Attempt RunnerRegistry::FindAttempt(std::string_view attempt_id) const {
  const std::optional<cluster::AttemptName> name = cluster::ParseAttemptId(attempt_id);
  JobRunner* runner = name ? Find(name->job_uid) : nullptr;
  const int replica = runner != nullptr ? FindReplica(runner->job(), name->task_name) : -1;
  if (replica < 0) return {};
  return {.runner = runner, .replica = replica, .number = name->attempt};
}

boost::asio::awaitable<void> RunnerRegistry::WaitForRunner(std::chrono::milliseconds wait_max) {
  co_await added_.WaitFor(wait_max);
}

void RunnerRegistry::CountInto(Figures& figures) const {
  figures.ended = counted_.ended;
  for (const auto& [uid, tuner] : tuning_.all())
    ++figures.unfinished.at(static_cast<std::size_t>(tuner->job().job().state()));
  for (const auto& [uid, runner] : runners_) {
    if (!runner->job().has_trial())
      ++figures.unfinished.at(static_cast<std::size_t>(runner->job().job().state()));
    figures.supervisors += runner->CountLiving();
  }
}

/// A runner that ends while the others are being destroyed is destroyed with them.
std::function<void()> RunnerRegistry::OnDone(std::int64_t uid) {
  return [this, uid] {
    if (!stopping_) tasks_.Spawn(Forget(uid));
  };
}

/// Not a local variable: if the server stops meanwhile, the owner must not be on the loop any more.
boost::asio::awaitable<void> RunnerRegistry::Forget(std::int64_t uid) {
  auto leaving = leaving_.insert(runners_.extract(uid));  // from here on only the API writes the job
  leaving.position->second->Watch(nullptr);               // its tuning job may be destroyed before it
  if (!leaving.position->second->job().has_trial())
    ++counted_.ended.at(static_cast<std::size_t>(leaving.position->second->job().job().state()));
  co_await leaving.position->second->Finish();
  leaving_.erase(uid);
}

std::function<void()> RunnerRegistry::OnTuningDone(std::int64_t uid) {
  return [this, uid] {
    if (!stopping_) tasks_.Spawn(ForgetTuning(uid));
  };
}

boost::asio::awaitable<void> RunnerRegistry::ForgetTuning(std::int64_t uid) {
  for (const auto& [trial_uid, runner] : runners_) {  // runners whose last files are being removed
    if (runner->job().trial().tuning_uid() == uid) runner->Watch(nullptr);
  }
  ++counted_.ended.at(static_cast<std::size_t>(tuning_.Find(uid)->job().job().state()));
  co_await tuning_.Forget(uid);
}

/// The record may exist already: its write was reported as failed but succeeded.
boost::asio::awaitable<Result<std::int64_t>> RunnerRegistry::StartTrial(v1::JobRecord trial,
                                                                        JobRunner::OnChange on_change) {
  v1::Event created;
  *created.mutable_created()->mutable_record() = trial;
  created.set_seq(1);
  *created.mutable_time() = trial.job().create_time();
  TY_CO_TRY(trial, jobs::Apply(v1::JobRecord{}, created));
  Result<std::int64_t> stored = co_await outside_.journal.Create(trial, created);
  if (!stored && stored.error().code == Code::kAlreadyExists) {
    const auto find = [&](const v1::JobRecord& known) {
      if (known.trial().trial_id() == trial.trial().trial_id()) stored = known.uid();
    };
    TY_CO_RETURN_IF_ERROR(co_await tuning_.ReadTrials(trial.trial().tuning_uid(), find));
  }
  TY_CO_TRY(const std::int64_t uid, std::move(stored));
  if (stopping_) co_return std::unexpected(Unavailable("the server stops"));
  trial.set_uid(uid);
  std::vector<jobs::ServiceLine> lines = jobs::LinesFor(trial, created);
  JobRunner& runner = Add(std::move(trial), 0);
  runner.Watch(std::move(on_change));
  runner.SayAgain(std::move(lines));
  runner.Start(OnDone(uid));
  co_return uid;
}

}  // namespace trainyard::control
