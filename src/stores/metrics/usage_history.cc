#include "stores/metrics/usage_history.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/sqlite/full_disk.h"
#include "base/wire/time.h"

namespace trainyard::metrics {
namespace {

constexpr std::chrono::hours kPruneEvery{1};
constexpr std::int64_t kEraseMax = 2'000;  ///< samples in one transaction, for which other writes wait

/// The state of one request, which is read page by page.
struct Reading {
  explicit Reading(ThinnedQuery query)
      : wanted(std::move(query)), thinner(wanted.metrics, wanted.points_max) {}
  ThinnedQuery wanted;
  SeriesThinner thinner;
  UsageSamples::Position after;
};

std::string CutMessage(const ThinnedQuery& query, UsageSamples::Position last) {
  const auto limit = std::chrono::duration_cast<std::chrono::seconds>(query.time_max).count();
  const std::string time = wire::PrintTime(SysTime(std::chrono::nanoseconds(last.time_ns)));
  return "Reading the samples took more than " + std::to_string(limit) + " s, so the series end at " + time +
         ": ask for the rest with startTime=" + time + ", or for one replica";
}

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
  std::ignore = samples_.Write(waiting_, TakeWaitingReports());
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

void UsageHistory::Put(StoredReport report) {
  auto key = std::tuple(report.job_uid, report.trial_id, report.attempt, report.tag);
  if (waiting_reports_.size() >= kReportsWaitingMax && !waiting_reports_.contains(key)) return;
  waiting_reports_.insert_or_assign(std::move(key), std::move(report));
  added_.Set();
}

std::vector<StoredReport> UsageHistory::TakeWaitingReports() {
  std::vector<StoredReport> reports;
  for (auto& [key, report] : waiting_reports_) reports.push_back(std::move(report));
  waiting_reports_.clear();
  return reports;
}

/// Keeps reports that were not written: a program that has ended does not report again. Newer reports are not
/// replaced.
void UsageHistory::PutBack(const std::vector<StoredReport>& reports) {
  for (const StoredReport& report : reports) {
    if (waiting_reports_.size() >= kReportsWaitingMax) break;
    waiting_reports_.try_emplace({report.job_uid, report.trial_id, report.attempt, report.tag}, report);
  }
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

boost::asio::awaitable<Result<std::string>> UsageHistory::PrintThinned(SampleQuery query,
                                                                       ThinnedQuery thinned) {
  co_await Write();
  const auto asked = std::make_shared<const SampleQuery>(std::move(query));  // shared with the pool
  const auto reading = std::make_shared<Reading>(std::move(thinned));
  const auto deadline = std::chrono::steady_clock::now() + reading->wanted.time_max;
  std::string cut;
  for (;;) {
    auto take = [this, asked, reading]() -> Result<int> {
      TY_TRY(const UsageSamples::Page page, samples_.List(*asked, reading->after, kThinnedPageSamples));
      for (const Sample& sample : page.samples) reading->thinner.Add(sample);
      reading->after = page.last;
      return static_cast<int>(page.samples.size());
    };
    TY_CO_TRY(const int taken, co_await OnPool(pool_, std::move(take)));
    if (taken < kThinnedPageSamples) break;
    if (std::chrono::steady_clock::now() < deadline) continue;
    cut = CutMessage(reading->wanted, reading->after);
    break;
  }
  auto print = [reading, cut = std::move(cut)] {
    return PrintSeries(reading->wanted.project, reading->wanted.job_id, reading->thinner.Take(), cut);
  };
  co_return co_await OnPool(pool_, std::move(print));
}

boost::asio::awaitable<Result<std::vector<StoredReport>>> UsageHistory::ListReports(ReportQuery query) {
  co_await Write();
  auto list = [this, query = std::move(query)] { return samples_.Reports(query); };
  co_return co_await OnPool(pool_, std::move(list));
}

boost::asio::awaitable<Status> UsageHistory::AddMachine(MachineSample sample) {
  return OnPool(pool_, [this, sample] { return samples_.AddMachine(sample); });
}

boost::asio::awaitable<Result<std::vector<MachineSample>>> UsageHistory::ListMachine(SysTime begin) {
  return OnPool(pool_, [this, begin] { return samples_.ListMachine(begin); });
}

boost::asio::awaitable<Status> UsageHistory::Erase(std::vector<std::int64_t> job_uids) {
  co_await Write();  // so that nothing of these jobs is written later
  const auto uids = std::make_shared<const std::vector<std::int64_t>>(std::move(job_uids));  // for the pool
  for (;;) {
    auto erase = [this, uids] {
      const sqlite::MayMakeRoom room;
      return samples_.Erase(*uids, kEraseMax);
    };
    TY_CO_TRY(const std::int64_t erased, co_await OnPool(pool_, std::move(erase)));
    if (erased >= kEraseMax) continue;
    const auto is_erased = [&uids](const auto& report) {
      return std::ranges::find(*uids, report.second.job_uid) != uids->end();
    };
    std::erase_if(waiting_reports_, is_erased);  // what could not be written
    co_return Status{};
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

boost::asio::awaitable<void> UsageHistory::KeepReports(std::int64_t job_uid) {
  const auto first = waiting_reports_.lower_bound({job_uid, "", 0, ""});
  const bool waits = first != waiting_reports_.end() && std::get<0>(first->first) == job_uid;
  if (waits) co_await Write();
  if (writing_ > 0) std::ignore = co_await OnPool(pool_, [] { return Status(); });  // behind what was begun
}

boost::asio::awaitable<void> UsageHistory::Write() {
  if (waiting_.empty() && waiting_reports_.empty()) co_return;
  auto batch = std::make_shared<std::vector<Sample>>(std::exchange(waiting_, {}));  // shared with the pool
  auto reports = std::make_shared<const std::vector<StoredReport>>(TakeWaitingReports());
  SysTime now = clock_.Now();
  bool prune = !pruned_ || now - *pruned_ >= kPruneEvery;
  auto write = [this, batch, reports] { return samples_.Write(*batch, *reports); };
  ++writing_;
  Status written = co_await OnPool(pool_, std::move(write));
  --writing_;
  if (!written) PutBack(*reports);
  auto drop = [this, now] { return samples_.Prune(now); };
  if (written && prune) written = co_await OnPool(pool_, std::move(drop));
  if (prune) pruned_ = now;
  if (!written && !failing_)
    Diagnose(DiagnosticLevel::kWarning, "figures of replicas are lost: " + written.error().message);
  failing_ = !written;
}

}  // namespace trainyard::metrics
