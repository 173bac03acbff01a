#include "async/diagnostics.h"
#include "control/job_service.h"
#include "jobs/transition.h"
#include "wire/time.h"

/// What JobService does for tuning jobs and their trials.
namespace trainyard::control {

void JobService::TakeOverTuning(Former former) {
  const std::int64_t uid = former.job.uid();
  TuningRunner& runner = tuning_.Add(std::move(former.job), former.lines_stored, std::move(former.resumed));
  runner.SayAgain(std::move(former.lines_left));
  runner.TakeOver(former.events, former.trials);
  runner.Start(OnTuningDone(uid));
}

std::function<void()> JobService::OnTuningDone(std::int64_t uid) {
  return [this, uid] {
    if (!stopping_) tasks_.Spawn(ForgetTuning(uid));
  };
}

boost::asio::awaitable<void> JobService::ForgetTuning(std::int64_t uid) {
  for (const auto& [trial_uid, runner] : runners_) {  // those whose last files are being removed
    if (runner->job().trial().tuning_uid() == uid) runner->Watch(nullptr);
  }
  ++counted_.ended.at(static_cast<std::size_t>(tuning_.Find(uid)->job().job().state()));
  co_await tuning_.Forget(uid);
}

JobRunner* JobService::FindTrial(std::int64_t uid) {
  const auto found = runners_.find(uid);
  return found == runners_.end() ? nullptr : found->second.get();
}

/// The record may be there already: its write was reported as failed and had succeeded.
boost::asio::awaitable<Result<std::int64_t>> JobService::StartTrial(v1::JobRecord trial,
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
