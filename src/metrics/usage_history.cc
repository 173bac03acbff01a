#include "metrics/usage_history.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/diagnostics.h"
#include "async/on_pool.h"

namespace trainyard::metrics {
namespace {

constexpr std::chrono::hours kPruneEvery{1};
constexpr std::int64_t kEraseMax = 2'000;  ///< samples in one transaction, which others wait for

boost::asio::awaitable<void> Sleep(std::chrono::steady_clock::duration time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  timer.expires_after(time);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

}  // namespace

Result<std::unique_ptr<UsageHistory>> UsageHistory::Open(boost::asio::any_io_executor loop,
                                                         const Clock& clock, const std::string& path) {
  TY_TRY(UsageSamples samples, UsageSamples::Open(path));
  return std::unique_ptr<UsageHistory>(new UsageHistory(std::move(loop), clock, std::move(samples)));
}

UsageHistory::UsageHistory(boost::asio::any_io_executor loop, const Clock& clock, UsageSamples samples)
    : clock_(clock), samples_(std::move(samples)), added_(loop), tasks_(loop) {
  tasks_.Spawn(WriteForEver());
}

UsageHistory::~UsageHistory() {
  tasks_.Cancel();
  pool_.join();  // from here on only this thread uses the database
  if (!waiting_.empty()) static_cast<void>(samples_.Add(waiting_));
}

void UsageHistory::Add(Sample sample) {
  Latest& latest = latest_[{sample.job_uid, sample.task_name}];
  latest.before.reset();
  if (latest.now.attempt == sample.attempt) latest.before = std::move(latest.now.usage);
  latest.now = sample;
  if (waiting_.size() >= kWaitingMax) waiting_.erase(waiting_.begin(), waiting_.begin() + kWaitingMax / 2);
  waiting_.push_back(std::move(sample));
  added_.Set();
}

void UsageHistory::Forget(std::int64_t job_uid, const std::string& task_name) {
  latest_.erase({job_uid, task_name});
}

const UsageHistory::Latest* UsageHistory::Find(std::int64_t job_uid, const std::string& task_name) const {
  const auto found = latest_.find({job_uid, task_name});
  return found == latest_.end() ? nullptr : &found->second;
}

boost::asio::awaitable<Result<std::vector<Sample>>> UsageHistory::List(SampleQuery query) {
  co_await Write();
  auto list = [this, query = std::move(query)] { return samples_.List(query); };
  Result<std::vector<Sample>> listed = co_await OnPool(pool_, std::move(list));
  co_return listed;
}

boost::asio::awaitable<Status> UsageHistory::Erase(std::vector<std::int64_t> job_uids) {
  co_await Write();  // nothing of theirs comes after the rest
  const auto uids = std::make_shared<const std::vector<std::int64_t>>(std::move(job_uids));  // with the pool
  for (;;) {
    auto erase = [this, uids] { return samples_.Erase(*uids, kEraseMax); };
    TY_CO_TRY(const std::int64_t erased, co_await OnPool(pool_, std::move(erase)));
    if (erased < kEraseMax) co_return Status{};
  }
}

boost::asio::awaitable<void> UsageHistory::WriteForEver() {
  for (;;) {
    co_await added_.Wait();
    co_await Sleep(kWriteEvery);
    added_.Reset();
    co_await Write();
  }
}

boost::asio::awaitable<void> UsageHistory::Write() {
  if (waiting_.empty()) co_return;
  auto batch = std::make_shared<std::vector<Sample>>(std::exchange(waiting_, {}));  // shared with the pool
  SysTime now = clock_.Now();
  bool prune = !pruned_ || now - *pruned_ >= kPruneEvery;
  auto write = [this, batch, now, prune]() -> Status {
    TY_RETURN_IF_ERROR(samples_.Add(*batch));
    return prune ? samples_.Prune(now) : Status();
  };
  Status written = co_await OnPool(pool_, std::move(write));
  if (prune) pruned_ = now;
  if (!written && !failing_)
    Diagnose(DiagnosticLevel::kWarning, "figures of replicas are lost: " + written.error().message);
  failing_ = !written;
}

}  // namespace trainyard::metrics
