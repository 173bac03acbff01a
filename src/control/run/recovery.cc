#include "control/run/recovery.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "control/run/job_secrets.h"
#include "control/run/manifest.h"
#include "control/run/pause.h"
#include "control/run/service_log.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::control {

namespace {

/// Jobs whose runners are made in one turn of the loop: some milliseconds.
constexpr std::size_t kAtOnce = 100;

/// The lines that the job's events so far produce for its log.
Result<std::vector<jobs::ServiceLine>> SaidSoFar(const std::vector<v1::Event>& events) {
  std::vector<jobs::ServiceLine> said;
  v1::JobRecord job;
  for (const v1::Event& event : events) {
    TY_TRY(job, jobs::Apply(job, event));
    std::vector<jobs::ServiceLine> lines = jobs::LinesFor(job, event);
    said.insert(said.end(), lines.begin(), lines.end());
  }
  return said;
}

/// The service's lines are derived from the events, so lines lost in a crash can be written now.
void SetLines(RunnerRegistry::PreviousJob& previous, const std::vector<jobs::ServiceLine>& said,
              std::int64_t stored) {
  // More lines may be stored than events: the lines of an end are written before it is recorded.
  previous.lines_stored = std::min(stored, static_cast<std::int64_t>(said.size()));
  previous.lines_left.assign(said.begin() + previous.lines_stored, said.end());
}

boost::asio::awaitable<Result<RunnerRegistry::PreviousJob>> Read(Collaborators& outside, TuningJobs& tuning,
                                                                 v1::JobRecord job) {
  TY_CO_TRY(std::vector<v1::Event> events,
            co_await outside.journal.Read([&](store::JobStore& jobs) { return jobs.Events(job.uid(), 0); }));
  TY_CO_TRY(const std::vector<jobs::ServiceLine> said, SaidSoFar(events));
  TY_CO_TRY(const std::int64_t stored,
            co_await outside.logs.NextLine(LogUid(job), ServiceSource(job).source));
  RunnerRegistry::PreviousJob previous;
  SetLines(previous, said, stored);
  if (job.has_tuning()) {
    previous.events = std::move(events);
    TY_CO_TRY(previous.trials,
              co_await outside.journal.Read([&](store::JobStore& jobs) { return jobs.Trials(job.uid()); }));
    TY_CO_TRY(previous.resumed, co_await tuning.ReadResumed(job));
  }
  previous.job = std::move(job);
  co_return previous;
}

/// Its record is the one after its only event.
bool IsNew(const v1::JobRecord& job) { return job.revision() == 1 && !job.has_tuning() && !job.has_trial(); }

boost::asio::awaitable<Result<std::vector<RunnerRegistry::PreviousJob>>> ReadNew(
    Collaborators& outside, std::span<const v1::JobRecord> jobs) {
  v1::Event created;
  created.mutable_created();
  std::vector<std::int64_t> uids;
  for (const v1::JobRecord& job : jobs) uids.push_back(job.uid());
  if (uids.empty()) co_return std::vector<RunnerRegistry::PreviousJob>();
  TY_CO_TRY(const std::vector<std::int64_t> stored,
            co_await outside.logs.NextLines(std::move(uids), ServiceSource(jobs.front()).source));
  std::vector<RunnerRegistry::PreviousJob> previous(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    SetLines(previous[i], jobs::LinesFor(jobs[i], created), stored[i]);
    previous[i].job = jobs[i];
  }
  co_return previous;
}

boost::asio::awaitable<Result<std::vector<RunnerRegistry::PreviousJob>>> ReadAll(
    Collaborators& outside, TuningJobs& tuning, std::vector<v1::JobRecord> jobs) {
  std::vector<v1::JobRecord> fresh;
  std::vector<v1::JobRecord> old;
  for (v1::JobRecord& job : jobs) (IsNew(job) ? fresh : old).push_back(std::move(job));
  TY_CO_TRY(std::vector<RunnerRegistry::PreviousJob> previous, co_await ReadNew(outside, fresh));
  for (v1::JobRecord& job : old) {
    const std::string job_id = job.job().job_id();
    Result<RunnerRegistry::PreviousJob> read = co_await Read(outside, tuning, std::move(job));
    if (!read) {
      const Error error{read.error().code, "job " + job_id + ": " + read.error().message, ""};
      co_return std::unexpected(error);
    }
    previous.push_back(*std::move(read));
  }
  co_return previous;
}

/// Nothing of the job can run, and it only waits for room on this machine.
bool OnlyWaits(const Collaborators& outside, const v1::JobRecord& job) {
  return IsNew(job) && outside.admissions.ForgetsWithServer(GangOf(job));
}

}  // namespace

boost::asio::awaitable<Result<std::vector<v1::JobRecord>>> RecoverJobs(Collaborators& outside,
                                                                       RunnerRegistry& registry,
                                                                       Orphans& orphans) {
  // Before all else: what the host lists now was there before this server started anything.
  TY_CO_TRY(std::vector<engine::AttemptRef> attempts, co_await outside.hosts.List());
  TY_CO_TRY(std::vector<v1::JobRecord> unfinished,
            co_await outside.journal.Read([](store::JobStore& jobs) { return jobs.Unfinished(); }));
  if (!unfinished.empty()) {
    Diagnose(DiagnosticLevel::kInfo, "taking over " + std::to_string(unfinished.size()) + " unfinished jobs");
  }
  RunnerRegistry::AttemptsOfJobs of_job;
  std::map<std::int64_t, std::string> secrets;
  for (const v1::JobRecord& job : unfinished) {
    of_job[job.uid()];
    if (!job.has_trial()) secrets[job.uid()] = StagedName(job);
  }
  if (outside.kept.secrets != nullptr)
    TY_CO_RETURN_IF_ERROR(co_await outside.kept.secrets->TakeOver(std::move(secrets)));
  std::vector<engine::AttemptRef> orphaned;
  for (engine::AttemptRef& attempt : attempts) {
    const std::optional<cluster::AttemptName> name = cluster::ParseAttemptId(attempt.id);
    const auto found = name ? of_job.find(name->job_uid) : of_job.end();
    (found == of_job.end() ? orphaned : found->second).push_back(std::move(attempt));
  }
  std::vector<v1::JobRecord> first;
  std::vector<v1::JobRecord> waiting;
  for (v1::JobRecord& job : unfinished) {
    const bool waits = of_job.at(job.uid()).empty() && OnlyWaits(outside, job);
    (waits ? waiting : first).push_back(std::move(job));
  }
  TY_CO_TRY(std::vector<RunnerRegistry::PreviousJob> previous,
            co_await ReadAll(outside, registry.tuning(), std::move(first)));
  std::vector<Orphans::Orphan> found = co_await orphans.Find(std::move(orphaned));
  outside.admissions.Set(
      engine::Stop::kTakingOver,
      {.reason = "The server has just started, and takes over the jobs of the previous one.",
       .unblock = "It continues in a moment."});
  registry.TakeOver(std::move(previous), of_job);
  orphans.Sweep(std::move(found));
  co_return waiting;
}

boost::asio::awaitable<void> RecoverRest(Collaborators& outside, RunnerRegistry& registry,
                                         std::vector<v1::JobRecord> rest) {
  Trouble trouble;
  for (std::span<const v1::JobRecord> left = rest; !left.empty();) {
    const std::size_t count = std::min(left.size(), kAtOnce);
    Result<std::vector<RunnerRegistry::PreviousJob>> previous = co_await ReadNew(outside, left.first(count));
    if (!previous) {
      trouble.Say(DiagnosticLevel::kError,
                  "waiting jobs are not taken over yet, trying again: " + previous.error().message);
      outside.admissions.Set(
          engine::Stop::kTakingOver,
          {.reason = "The jobs of the previous server cannot be read: " + previous.error().message + ".",
           .unblock = "The server tries again by itself."});
      co_await Pause(outside.settings.retry_pause);
      continue;
    }
    registry.TakeOver(*std::move(previous), {});
    left = left.subspan(count);
  }
  outside.admissions.Clear(engine::Stop::kTakingOver);
}

}  // namespace trainyard::control
