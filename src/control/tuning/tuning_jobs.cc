#include "control/tuning/tuning_jobs.h"

#include <algorithm>

#include "control/run/job_status.h"
#include "control/run/web_access.h"
#include "rules/jobs/job_id.h"
#include "rules/jobs/study.h"
#include "rules/jobs/trial.h"

namespace trainyard::control {

namespace {

using ml::v1::HyperparameterOutput;
using ml::v1::Job;

constexpr std::string_view kResumeField = "hyperparameters.resume_previous_job_id";

/// The record keeps the trials that have not ended and the best one; this removes all but the best one.
void KeepTheBest(ml::v1::TrainingOutput& output) {
  auto& trials = *output.mutable_trials();
  trials.erase(std::remove_if(trials.begin(), trials.end(),
                              [](const HyperparameterOutput& trial) {
                                return trial.state() == HyperparameterOutput::QUEUED;
                              }),
               trials.end());
}

}  // namespace

boost::asio::awaitable<Result<std::optional<v1::JobRecord>>> TuningJobs::FindPrevious(std::string project,
                                                                                      std::string job_id) {
  if (!jobs::JobId::Parse(job_id)) co_return std::nullopt;
  Result<v1::JobRecord> previous =
      co_await outside_.journal.Read([&](store::JobStore& jobs) { return jobs.Get(project, job_id); });
  if (!previous && previous.error().code != Code::kNotFound) co_return std::unexpected(previous.error());
  if (!previous || !previous->has_tuning()) co_return std::nullopt;
  co_return *std::move(previous);
}

boost::asio::awaitable<Result<std::vector<std::int64_t>>> TuningJobs::FindResumed(v1::JobRecord record) {
  std::vector<std::int64_t> uids;
  const std::string& job_id = record.job().training_input().hyperparameters().resume_previous_job_id();
  if (job_id.empty()) co_return uids;
  Result<v1::JobRecord> previous = co_await outside_.journal.Read(
      [&](store::JobStore& jobs) { return jobs.Get(record.project(), job_id); });
  if (!previous && previous.error().code == Code::kNotFound) {
    co_return std::unexpected(
        FailedPrecondition("The job " + job_id + " cannot be resumed: there is no such job.", kResumeField));
  }
  if (!previous) co_return std::unexpected(previous.error());
  TY_CO_RETURN_IF_ERROR(jobs::CheckResumable(record, *previous));
  uids.push_back(previous->uid());
  uids.insert(uids.end(), previous->tuning().resumed_uids().begin(), previous->tuning().resumed_uids().end());
  co_return uids;
}

boost::asio::awaitable<Result<TuningJobs::Resumed>> TuningJobs::ReadResumed(v1::JobRecord record) {
  Resumed resumed;
  const bool stops_early = jobs::StopsEarly(record);
  const auto& uids = record.tuning().resumed_uids();
  for (int i = uids.size() - 1; i >= 0; --i) {
    TY_CO_RETURN_IF_ERROR(co_await ReadTrials(uids[i], [&](const v1::JobRecord& previous) {
      tuning::Trial trial = jobs::StudyTrial(previous, previous.trial().report(), stops_early);
      if (previous.job().state() == Job::CANCELLED && trial.values.empty()) return;  // it has no result
      trial.id = 0;
      resumed.push_back(std::move(trial));
    }));
  }
  co_return resumed;
}

TuningRunner& TuningJobs::Add(v1::JobRecord job, std::int64_t service_lines, Resumed resumed) {
  const std::int64_t uid = job.uid();
  auto runner = std::make_unique<TuningRunner>(outside_, host_, thinking_, std::move(job), service_lines);
  runner->TakeResumed(std::move(resumed));
  return *runners_.emplace(uid, std::move(runner)).first->second;
}

TuningRunner* TuningJobs::Find(std::int64_t uid) const {
  const auto found = runners_.find(uid);
  return found == runners_.end() ? nullptr : found->second.get();
}

/// Not a local variable: if the server stops meanwhile, the owner must not be on the loop any more.
boost::asio::awaitable<void> TuningJobs::Forget(std::int64_t uid) {
  auto leaving = leaving_.insert(runners_.extract(uid));
  co_await leaving.position->second->Finish();
  leaving_.erase(uid);
}

void TuningJobs::Clear() {
  for (const auto& [uid, runner] : runners_) runner->Cancel();
  runners_.clear();
  leaving_.clear();
}

boost::asio::awaitable<Status> TuningJobs::ReadTrials(std::int64_t tuning_uid,
                                                      std::function<void(const v1::JobRecord&)> take) {
  std::vector<v1::JobRecord> page;
  do {
    const std::int64_t after = page.empty() ? 0 : page.back().uid();
    page.clear();  // frees its memory before the next page is read
    TY_CO_TRY(page, co_await outside_.journal.Read(
                        [&](store::JobStore& jobs) { return jobs.Trials(tuning_uid, after, kTrialsRead); }));
    for (const v1::JobRecord& trial : page) take(trial);
  } while (std::ssize(page) == kTrialsRead);
  co_return Status{};
}

boost::asio::awaitable<Result<std::vector<v1::JobRecord>>> TuningJobs::TrialsNow(std::int64_t tuning_uid,
                                                                                 std::int64_t after_uid) {
  TY_CO_TRY(std::vector<v1::JobRecord> page, co_await outside_.journal.Read([&](store::JobStore& jobs) {
    return jobs.Trials(tuning_uid, after_uid, kTrialsRead);
  }));
  const TuningRunner* runner = Find(tuning_uid);
  if (runner == nullptr) co_return page;
  for (const JobRunner* active : runner->Active()) {
    const auto of_trial = [active](const v1::JobRecord& trial) { return trial.uid() == active->job().uid(); };
    const auto trial = std::ranges::find_if(page, of_trial);
    if (trial != page.end()) *trial->mutable_trial()->mutable_report() = active->report();
  }
  co_return page;
}

boost::asio::awaitable<Result<tuning::Insight>> TuningJobs::Explain(v1::JobRecord record) {
  tuning::Insight none{.note = "The job tunes no hyperparameters."};
  if (!record.has_tuning()) co_return none;
  const auto shared = std::make_shared<const v1::JobRecord>(std::move(record));  // std::function copies
  InsightThread::Question question{
      .subject = {.kind = InsightThread::Subject::Kind::kJob, .uid = shared->uid()},
      .revision = {.changes = shared->revision()},
      .read = [this, shared] { return ReadStudy(shared); }};
  co_return co_await insights_.Explain(std::move(question));
}

boost::asio::awaitable<Result<InsightThread::Study>> TuningJobs::ReadStudy(
    std::shared_ptr<const v1::JobRecord> record) {
  InsightThread::Study study{.spec = jobs::StudyOf(*record), .trials = {}, .stopped = {}};
  TY_CO_TRY(study.trials, co_await ReadResumed(*record));
  TY_CO_RETURN_IF_ERROR(co_await ReadTrials(record->uid(), [&](const v1::JobRecord& trial) {
    study.trials.push_back(jobs::StudyTrial(trial, trial.trial().report(), false));
    if (trial.trial().stopped_early())
      study.stopped.push_back({jobs::TrialNumber(trial.trial().trial_id()), jobs::TrialReason(trial)});
  }));
  co_return study;
}

boost::asio::awaitable<Result<TrialList>> TuningJobs::ListTrials(std::int64_t tuning_uid) {
  TrialList list;
  TY_CO_RETURN_IF_ERROR(co_await ReadTrials(tuning_uid, [&](const v1::JobRecord& trial) {
    list.UpdateTrial(outside_.settings, trial, trial.trial().report());
  }));
  co_return list;
}

boost::asio::awaitable<Status> TuningJobs::Complete(v1::JobRecord record, Job& job, int trials_max) {
  ml::v1::TrainingOutput& output = *job.mutable_training_output();
  const bool maximize = jobs::Maximizes(record);
  const TuningRunner* runner = Find(record.uid());
  if (runner != nullptr && job.state() == Job::QUEUED) {
    for (const JobRunner* trial : runner->Active()) {
      const std::optional<placement::Wait> wait = trial->WaitForRoom();
      if (wait && job.job_position() == 0) job.set_job_position(wait->position);
    }
  }
  if (record.tuning().trials_created() > trials_max) {
    KeepTheBest(output);
  } else if (runner != nullptr) {
    runner->trials().Show(maximize, output);
  } else {
    TY_CO_TRY(const TrialList trials, co_await ListTrials(record.uid()));
    trials.Show(maximize, output);
  }
  co_return Status{};
}

boost::asio::awaitable<Result<v1::JobStatus>> TuningJobs::Describe(v1::JobRecord record) {
  TrialList trials;
  if (Find(record.uid()) == nullptr) {
    TY_CO_TRY(trials, co_await ListTrials(record.uid()));
  }
  v1::JobStatus status = MakeStatus(record, {});
  const TuningRunner* runner = Find(record.uid());  // looked up again: it may have ended meanwhile
  if (runner != nullptr) trials = runner->trials();
  for (const TrialList::Shown& shown : trials.all()) {
    if (!shown.trial.output().trial_id().empty()) *status.add_trials() = shown.trial;
  }
  if (runner == nullptr) co_return status;
  status.set_state(runner->job().job().state());
  if (const std::optional<jobs::Waiting> waiting = runner->WhyWaiting()) {
    status.mutable_waiting()->set_reason(waiting->reason);
    status.mutable_waiting()->set_unblock(waiting->unblock);
  }
  const bool ends = runner->job().outcome() != Job::STATE_UNSPECIFIED;
  const bool waits = ends || status.state() == Job::QUEUED || status.state() == Job::PREPARING;
  for (const JobRunner* active : runner->Active()) {
    v1::JobStatus::Trial& trial =
        *status.mutable_trials(jobs::TrialNumber(active->job().trial().trial_id()) - 1);
    v1::JobStatus of_trial = active->Describe();
    *trial.mutable_replicas() = std::move(*of_trial.mutable_replicas());
    if (!of_trial.has_waiting()) continue;
    trial.set_reason(of_trial.waiting().reason());
    if (!waits || status.has_waiting()) continue;
    *status.mutable_waiting() = std::move(*of_trial.mutable_waiting());
    if (ends)
      status.mutable_waiting()->set_reason("Trial " + trial.output().trial_id() + ": " + trial.reason());
  }
  co_return status;
}

Result<engine::AttemptRef> TuningJobs::ShellTarget(const TuningRunner& runner, const std::string& task_name,
                                                   std::string_view token) const {
  Result<engine::AttemptRef> target = std::unexpected(FailedPrecondition("No trial of the job runs now."));
  for (const JobRunner* trial : runner.Active()) {
    target = control::ShellTarget(outside_.settings, trial->job(), task_name, token);
    if (target) return target;
  }
  return target;
}

}  // namespace trainyard::control
