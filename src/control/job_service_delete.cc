#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <set>
#include <utility>

#include "control/job_removal.h"
#include "control/job_service.h"

namespace trainyard::control {

namespace {

/// Until the runner of a job that has just ended is gone: it is about to forget the attempts.
constexpr std::chrono::milliseconds kLeaveWaitMax{5'000};
constexpr std::chrono::milliseconds kLeavePoll{20};

Error BeingChanged() { return {Code::kAborted, "The job is being changed by others: try again", ""}; }

Error NotEnded(const std::string& job_id) {
  return FailedPrecondition("The job " + job_id +
                            " has not ended, and only jobs that have ended can be deleted: cancel it first "
                            "(trainyard jobs cancel " +
                            job_id + ")");
}

}  // namespace

boost::asio::awaitable<bool> JobService::WaitUntilLeft(std::int64_t uid) {
  boost::asio::steady_timer timer(outside_.loop);
  for (auto waited = kLeavePoll; registry_.Find(uid) != nullptr || registry_.tuning().Find(uid) != nullptr;
       waited += kLeavePoll) {
    if (waited > kLeaveWaitMax) co_return false;
    timer.expires_after(kLeavePoll);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
  co_return true;
}

boost::asio::awaitable<Status> JobService::Delete(wire::JobName name) {
  co_await recovered_.Wait();
  TY_CO_TRY(const v1::JobRecord job, co_await Load(name));
  if (!job.job().has_end_time()) co_return std::unexpected(NotEnded(name.job_id));
  if (!co_await WaitUntilLeft(job.uid()))
    co_return std::unexpected(FailedPrecondition("The last replicas of the job " + name.job_id +
                                                 " are being cleared away: try again in a moment"));
  if (NeededJobs(registry_).contains(job.uid()))
    co_return std::unexpected(
        FailedPrecondition("A tuning job that has not ended resumes the job " + name.job_id +
                           " and needs its trials: wait for its end, or cancel it first"));
  std::vector<std::int64_t> uids{job.uid()};
  TY_CO_TRY(const std::int64_t begun, co_await outside_.journal.BeginRemoval(uids));
  if (begun == 0) co_return std::unexpected(BeingChanged());
  TY_CO_TRY([[maybe_unused]] const RemovedJobs removed, co_await FinishRemoval(outside_, std::move(uids)));
  co_return Status{};
}

boost::asio::awaitable<Result<RemovedJobs>> JobService::RemoveEnded(std::vector<std::int64_t> uids) {
  co_await recovered_.Wait();
  const std::set<std::int64_t> needed = NeededJobs(registry_);
  std::erase_if(uids, [&needed](std::int64_t uid) { return needed.contains(uid); });
  TY_CO_TRY([[maybe_unused]] const std::int64_t begun,
            co_await outside_.journal.BeginRemoval(std::move(uids)));
  co_return co_await FinishRemovals();
}

boost::asio::awaitable<std::set<std::string>> JobService::NeededImages() {
  co_await recovered_.Wait();
  std::set<std::string> digests;
  const auto add = [&digests](const v1::JobRecord& job) {
    for (const v1::ImageRecord& image : job.images()) digests.insert(image.digest());
  };
  for (const auto& [uid, runner] : registry_.all()) add(runner->job());
  for (const auto& [uid, tuner] : registry_.tuning().all()) add(tuner->job());
  co_return digests;
}

boost::asio::awaitable<Result<RemovedJobs>> JobService::FinishRemovals() {
  RemovedJobs removed;
  for (;;) {
    TY_CO_TRY(std::vector<std::int64_t> uids, co_await outside_.journal.Removing(kRemovedTogether));
    if (uids.empty()) co_return removed;
    TY_CO_TRY(const RemovedJobs some, co_await FinishRemoval(outside_, std::move(uids)));
    removed.jobs += some.jobs;
    removed.bytes += some.bytes;
  }
}

}  // namespace trainyard::control
