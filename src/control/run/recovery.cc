#include "control/run/recovery.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "control/run/job_secrets.h"
#include "control/run/service_log.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::control {

namespace {

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
boost::asio::awaitable<Result<RunnerRegistry::PreviousJob>> Read(Collaborators& outside, TuningJobs& tuning,
                                                                 v1::JobRecord job) {
  TY_CO_TRY(std::vector<v1::Event> events,
            co_await outside.journal.Read([&](store::JobStore& jobs) { return jobs.Events(job.uid(), 0); }));
  TY_CO_TRY(std::vector<jobs::ServiceLine> said, SaidSoFar(events));
  TY_CO_TRY(std::int64_t stored, co_await outside.logs.NextLine(LogUid(job), ServiceSource(job).source));
  RunnerRegistry::PreviousJob previous;
  // More lines may be stored than events: the lines of an end are written before it is recorded.
  previous.lines_stored = std::min(stored, static_cast<std::int64_t>(said.size()));
  previous.lines_left.assign(said.begin() + previous.lines_stored, said.end());
  if (job.has_tuning()) {
    previous.events = std::move(events);
    TY_CO_TRY(previous.trials,
              co_await outside.journal.Read([&](store::JobStore& jobs) { return jobs.Trials(job.uid()); }));
    TY_CO_TRY(previous.resumed, co_await tuning.ReadResumed(job));
  }
  previous.job = std::move(job);
  co_return previous;
}

}  // namespace

boost::asio::awaitable<Status> RecoverJobs(Collaborators& outside, RunnerRegistry& registry,
                                           Orphans& orphans) {
  // Before all else: what the host lists now was there before this server started anything.
  TY_CO_TRY(std::vector<engine::AttemptRef> attempts, co_await outside.hosts.List());
  TY_CO_TRY(std::vector<v1::JobRecord> unfinished,
            co_await outside.journal.Read([](store::JobStore& jobs) { return jobs.Unfinished(); }));
  if (!unfinished.empty()) {
    Diagnose(DiagnosticLevel::kInfo, "taking over " + std::to_string(unfinished.size()) + " unfinished jobs");
  }
  std::map<std::int64_t, std::vector<engine::AttemptRef>> of_job;
  std::vector<RunnerRegistry::PreviousJob> previous;
  std::map<std::int64_t, std::string> secrets;
  for (v1::JobRecord& job : unfinished) {
    of_job[job.uid()];
    if (!job.has_trial()) secrets[job.uid()] = StagedName(job);
    std::string job_id = job.job().job_id();
    Result<RunnerRegistry::PreviousJob> read = co_await Read(outside, registry.tuning(), std::move(job));
    if (!read) {
      const Error error{read.error().code, "job " + job_id + ": " + read.error().message, ""};
      co_return std::unexpected(error);
    }
    previous.push_back(*std::move(read));
  }
  if (outside.kept.secrets != nullptr)
    TY_CO_RETURN_IF_ERROR(co_await outside.kept.secrets->TakeOver(std::move(secrets)));
  std::vector<engine::AttemptRef> orphaned;
  for (engine::AttemptRef& attempt : attempts) {
    const std::optional<cluster::AttemptName> name = cluster::ParseAttemptId(attempt.id);
    const auto found = name ? of_job.find(name->job_uid) : of_job.end();
    (found == of_job.end() ? orphaned : found->second).push_back(std::move(attempt));
  }
  std::vector<Orphans::Orphan> found = co_await orphans.Find(std::move(orphaned));
  registry.TakeOver(std::move(previous), of_job);
  orphans.Sweep(std::move(found));
  co_return Status{};
}

}  // namespace trainyard::control
