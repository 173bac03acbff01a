#include "control/upkeep/job_removal.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "base/async/diagnostics.h"
#include "rules/cluster/task_name.h"
#include "rules/iam/refusal.h"
#include "rules/iam/resource.h"
#include "stores/metrics/usage_history.h"

namespace trainyard::control {

namespace {

using boost::asio::awaitable;

/// Rows deleted in one transaction: it takes a few milliseconds, for which a create waits.
constexpr std::int64_t kEraseRowsMax = 200;
/// How long to wait for the runner of a job that has just ended: it is about to remove the attempts.
constexpr std::chrono::milliseconds kLeaveWaitMax{5'000};
constexpr std::chrono::milliseconds kLeavePoll{20};

Error NotEnded(const std::string& job_id) {
  return FailedPrecondition("The job " + job_id +
                            " has not ended, and only jobs that have ended can be deleted: cancel it first "
                            "(trainyard jobs cancel " +
                            job_id + ")");
}

}  // namespace

std::set<std::int64_t> JobRemoval::NeededJobs() const {
  std::set<std::int64_t> uids;
  for (const auto& [uid, runner] : registry_.all()) uids.insert(uid);
  for (const auto& [uid, tuner] : registry_.tuning().all()) {
    uids.insert(uid);
    const auto& resumed = tuner->job().tuning().resumed_uids();
    uids.insert(resumed.begin(), resumed.end());
  }
  return uids;
}

awaitable<std::set<std::string>> JobRemoval::NeededImages() {
  co_await recovered_.Wait();
  std::set<std::string> digests;
  const auto add = [&digests](const v1::JobRecord& job) {
    for (const v1::ImageRecord& image : job.images()) digests.insert(image.digest());
  };
  for (const auto& [uid, runner] : registry_.all()) add(runner->job());
  for (const auto& [uid, tuner] : registry_.tuning().all()) add(tuner->job());
  co_return digests;
}

awaitable<bool> JobRemoval::WaitUntilLeft(std::int64_t uid) {
  boost::asio::steady_timer timer(outside_.loop);
  for (auto waited = kLeavePoll; registry_.Find(uid) != nullptr || registry_.tuning().Find(uid) != nullptr;
       waited += kLeavePoll) {
    if (waited > kLeaveWaitMax) co_return false;
    timer.expires_after(kLeavePoll);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
  co_return true;
}

awaitable<Status> JobRemoval::Delete(wire::JobName name) {
  co_await recovered_.Wait();
  const Result<v1::JobRecord> job = co_await outside_.journal.Read(
      [&](store::JobStore& jobs) { return jobs.Get(name.project, name.job_id); });
  if (!job && job.error().code == Code::kNotFound)
    co_return std::unexpected(
        iam::Absent("trainyard.jobs.delete", iam::Resource::Job(name.project, name.job_id)));
  if (!job) co_return std::unexpected(job.error());
  if (!job->job().has_end_time()) co_return std::unexpected(NotEnded(name.job_id));
  if (!co_await WaitUntilLeft(job->uid()))
    co_return std::unexpected(FailedPrecondition("The last replicas of the job " + name.job_id +
                                                 " are being removed: try again in a moment"));
  if (NeededJobs().contains(job->uid()))
    co_return std::unexpected(
        FailedPrecondition("A tuning job that has not ended resumes the job " + name.job_id +
                           " and needs its trials: wait for its end, or cancel it first"));
  std::vector<std::int64_t> uids{job->uid()};
  // If another call has begun it, nothing is begun here, but it is finished nevertheless.
  TY_CO_TRY([[maybe_unused]] const std::int64_t begun, co_await outside_.journal.BeginRemoval(uids));
  TY_CO_TRY([[maybe_unused]] const RemovedJobs removed, co_await Finish(std::move(uids)));
  co_return Status{};
}

awaitable<Result<RemovedJobs>> JobRemoval::RemoveEnded(std::vector<std::int64_t> uids) {
  co_await recovered_.Wait();
  const std::set<std::int64_t> needed = NeededJobs();
  std::erase_if(uids, [&needed](std::int64_t uid) { return needed.contains(uid); });
  if (!uids.empty()) {
    TY_CO_TRY([[maybe_unused]] const std::int64_t count,
              co_await outside_.journal.BeginRemoval(std::move(uids)));
  }
  RemovedJobs removed;
  for (;;) {
    TY_CO_TRY(std::vector<std::int64_t> begun, co_await outside_.journal.Read([&](store::JobStore& jobs) {
      return jobs.Removing(kTogether);
    }));
    if (begun.empty()) co_return removed;
    TY_CO_TRY(const RemovedJobs some, co_await Finish(std::move(begun)));
    removed.jobs += some.jobs;
    removed.bytes += some.bytes;
  }
}

/// Directories of attempts are usually removed when the attempts have ended. One that cannot be removed, such
/// as that of an attempt that still runs, is left to the next server's start.
awaitable<void> JobRemoval::ForgetAttempts(std::vector<std::int64_t> uids) {
  const Result<std::vector<engine::AttemptRef>> attempts = co_await outside_.hosts.List();
  if (!attempts) co_return;
  for (const engine::AttemptRef& attempt : *attempts) {
    const std::optional<cluster::AttemptName> name = cluster::ParseAttemptId(attempt.id);
    if (!name || std::ranges::find(uids, name->job_uid) == uids.end()) continue;
    const Status forgotten = co_await outside_.hosts.Of(attempt.agent).Forget(attempt);
    if (!forgotten)
      Diagnose(DiagnosticLevel::kWarning, attempt.id + " left files behind: " + forgotten.error().message);
  }
}

/// May be repeated and interrupted.
awaitable<Result<RemovedJobs>> JobRemoval::Finish(std::vector<std::int64_t> uids) {
  RemovedJobs removed;
  TY_CO_TRY(const logs::ErasedLogs lines, co_await outside_.logs.Erase(uids));
  removed.bytes = lines.bytes;
  if (outside_.kept.usage != nullptr) TY_CO_RETURN_IF_ERROR(co_await outside_.kept.usage->Erase(uids));
  co_await ForgetAttempts(uids);
  // Last: as long as the rows exist, the next server knows that there is something to erase.
  for (;;) {
    TY_CO_TRY(const std::int64_t rows, co_await outside_.journal.EraseRemoved(uids, kEraseRowsMax));
    if (rows < kEraseRowsMax) break;
  }
  removed.jobs = std::ssize(uids);
  co_return removed;
}

}  // namespace trainyard::control
