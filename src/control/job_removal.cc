#include "control/job_removal.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "async/diagnostics.h"
#include "cluster/attempt_id.h"
#include "metrics/usage_history.h"

namespace trainyard::control {

namespace {

/// Rows that one transaction deletes: a few milliseconds, for which a create waits.
constexpr std::int64_t kEraseRowsMax = 200;

void AddResumed(const v1::JobRecord& job, std::set<std::int64_t>& uids) {
  uids.insert(job.uid());
  uids.insert(job.tuning().resumed_uids().begin(), job.tuning().resumed_uids().end());
}

/// Directories of attempts: as a rule they went when the attempts had ended. One that cannot be removed, as
/// of an attempt that lives all the same, is left to the next server's start.
boost::asio::awaitable<void> ForgetAttempts(const Collaborators& outside,
                                            const std::vector<std::int64_t>& uids) {
  const Result<std::vector<engine::AttemptRef>> attempts = co_await outside.host.List();
  if (!attempts) co_return;
  for (const engine::AttemptRef& attempt : *attempts) {
    const std::optional<cluster::AttemptName> name = cluster::ParseAttemptId(attempt.id);
    if (!name || std::ranges::find(uids, name->job_uid) == uids.end()) continue;
    const Status forgotten = co_await outside.host.Forget(attempt);
    if (!forgotten)
      Diagnose(DiagnosticLevel::kWarning, attempt.id + " left files behind: " + forgotten.error().message);
  }
}

}  // namespace

std::set<std::int64_t> NeededJobs(const RunnerRegistry& registry) {
  std::set<std::int64_t> uids;
  for (const auto& [uid, runner] : registry.all()) uids.insert(uid);
  for (const auto& [uid, tuner] : registry.tuning().all()) AddResumed(tuner->job(), uids);
  return uids;
}

boost::asio::awaitable<Result<RemovedJobs>> FinishRemoval(const Collaborators& outside,
                                                          std::vector<std::int64_t> uids) {
  RemovedJobs removed;
  TY_CO_TRY(const logs::ErasedLogs lines, co_await outside.logs.Erase(uids));
  removed.bytes = lines.bytes;
  if (outside.usage != nullptr) TY_CO_RETURN_IF_ERROR(co_await outside.usage->Erase(uids));
  co_await ForgetAttempts(outside, uids);
  // Last: until the rows are gone the next server knows that there is something to erase.
  for (;;) {
    TY_CO_TRY(const std::int64_t rows, co_await outside.journal.EraseRemoved(uids, kEraseRowsMax));
    if (rows < kEraseRowsMax) break;
  }
  removed.jobs = std::ssize(uids);
  co_return removed;
}

}  // namespace trainyard::control
