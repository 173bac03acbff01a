#include "control/run/runner_registry.h"

#include <optional>
#include <utility>

#include "base/wire/time.h"
#include "control/run/manifest.h"
#include "control/run/pause.h"
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

boost::asio::awaitable<RunnerRegistry::Coming> RunnerRegistry::Prepare(jobs::Step created) {
  Coming coming{.runner = std::make_unique<JobRunner>(outside_, std::move(created.after), 0), .steps = {}};
  coming.steps = co_await coming.runner->Begin(std::move(created.event));
  co_return coming;
}

void RunnerRegistry::Start(Coming stored) {
  JobRunner& runner = Add(std::move(stored.runner));
  const jobs::Step& first = stored.steps.front();
  runner.SayAgain(jobs::LinesFor(first.after, first.event));
  runner.TakeFirst(std::move(stored.steps));
  runner.Start(OnDone(runner.job().uid()));
}

void RunnerRegistry::StartTuning(v1::JobRecord job, std::vector<jobs::ServiceLine> lines,
                                 TuningJobs::Resumed resumed) {
  const std::int64_t uid = job.uid();
  TuningRunner& tuner = tuning_.Add(std::move(job), 0, std::move(resumed));
  tuner.SayAgain(std::move(lines));
  tuner.Start(OnTuningDone(uid));
}

void RunnerRegistry::TakeOver(std::vector<PreviousJob> jobs, const AttemptsOfJobs& attempts) {
  std::vector<JobRunner*> added;
  for (PreviousJob& one : jobs) {
    if (one.job.has_tuning()) continue;
    added.push_back(&Add(std::make_unique<JobRunner>(outside_, std::move(one.job), one.lines_stored)));
    added.back()->SayAgain(std::move(one.lines_left));
  }
  for (PreviousJob& one : jobs) {  // they must get their trials' events from the beginning
    if (one.job.has_tuning()) TakeOverTuning(std::move(one));
  }
  for (JobRunner* runner : added) {
    const std::int64_t uid = runner->job().uid();
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

JobRunner& RunnerRegistry::Add(std::unique_ptr<JobRunner> runner) {
  const std::int64_t uid = runner->job().uid();
  const auto added = runners_.emplace(uid, std::move(runner)).first;
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

/// A trial of the same name and uid is this one: a write was reported as failed but succeeded.
boost::asio::awaitable<Status> RunnerRegistry::StoreTrial(const jobs::Steps& steps) {
  const v1::JobRecord& trial = steps.back().after;
  const Result<std::int64_t> stored = co_await outside_.journal.Create(trial, jobs::EventsOf(steps));
  if (stored) co_return Status{};
  if (stored.error().code != Code::kAlreadyExists) co_return std::unexpected(stored.error());
  TY_CO_TRY(const v1::JobRecord known, co_await outside_.journal.Read([&trial](store::JobStore& jobs) {
    return jobs.GetTrial(trial.project(), trial.job().job_id(), trial.trial().trial_id());
  }));
  if (known.uid() == trial.uid()) co_return Status{};
  co_return std::unexpected(stored.error());
}

/// Retries until it is stored: a trial that is created but not started would be forgotten.
boost::asio::awaitable<Result<std::int64_t>> RunnerRegistry::StartTrial(v1::JobRecord trial,
                                                                        JobRunner::OnChange on_change) {
  TY_CO_TRY(const std::int64_t uid, outside_.journal.NextUid());
  trial.set_uid(uid);
  const std::string what = "trial " + trial.trial().trial_id() + " of job " + trial.job().job_id();
  const SysTime now = wire::FromProto(trial.job().create_time());
  v1::Event created;
  *created.mutable_created()->mutable_record() = std::move(trial);
  TY_CO_TRY(jobs::Step first, jobs::StepAfter(v1::JobRecord{}, std::move(created), now));
  Coming coming = co_await Prepare(std::move(first));
  Trouble trouble;
  for (Status stored = co_await StoreTrial(coming.steps); !stored;) {
    trouble.Say(DiagnosticLevel::kWarning,
                what + " cannot be started, trying again: " + stored.error().message);
    co_await Pause(outside_.settings.retry_pause);
    stored = co_await StoreTrial(coming.steps);
  }
  if (stopping_) co_return std::unexpected(Unavailable("the server stops"));
  coming.runner->Watch(std::move(on_change));
  Start(std::move(coming));
  co_return uid;
}

}  // namespace trainyard::control
