#include "control/curves/kept_jobs.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>

#include "base/async/on_pool.h"
#include "base/async/turns.h"
#include "base/wire/time.h"
#include "rules/measurement/metric_files.h"

namespace trainyard::curves {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t kPageObjects = 1'000;
constexpr std::chrono::seconds kForgetEvery{15};
constexpr int kListRest = 10;  ///< the pause between listings, in listing times
/// File systems store times in steps of up to a second, and a writer's clock may be behind.
constexpr std::chrono::seconds kFileTimeSlack{1};

/// Reads the next part of one file. Blocks. True: there is more.
bool ReadPart(measurement::Gathered& gathered, const std::string& path,
              const storage::ReadableObject& object) {
  const measurement::FileWindow::ReadAt read_at = [&object](std::uint64_t offset, std::span<char> buffer) {
    const ssize_t got = pread(object.file.get(), buffer.data(), buffer.size(), static_cast<off_t>(offset));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  };
  return gathered.Read(
      path, {.id = static_cast<std::uint64_t>(object.resource.generation()), .size = object.resource.size()},
      kSliceBytes, read_at);
}

}  // namespace

struct KeptJobs::Job {
  Job(const boost::asio::any_io_executor& loop, bool splits_trials)
      : gathered(splits_trials), turns(loop, 1) {}

  measurement::Gathered gathered;                   ///< used on the thread, by whoever has the turn
  std::map<std::string, std::int64_t> generations;  ///< of files that were read to their end
  bool has_folder = false;
  std::deque<std::string> waiting;  ///< files with something new
  std::size_t older = 0;
  std::size_t bytes = 0;       ///< size of what was gathered, as the loop last saw it
  std::size_t name_bytes = 0;  ///< of the generations' names
  ReportsKnown reports;
  bool has_all_reports = false;  ///< each trial's report was read at least once
  std::string list_token;        ///< where an incomplete listing continues
  TimePoint list_at{};           ///< not before this time
  TimePoint asked{};
  Turns turns;
};

KeptJobs::KeptJobs(boost::asio::any_io_executor loop, storage::Buckets& buckets, Limits limits)
    : loop_(std::move(loop)), buckets_(buckets), limits_(limits), kept_(loop_) {}

KeptJobs::JobPtr KeptJobs::Find(const JobPlace& place) {
  JobPtr& job = jobs_[place.uid];
  const bool has_folder = !place.folder.bucket.empty();
  const bool lost_folder = job != nullptr && job->has_folder && !has_folder;  // it may not be read any more
  if (job == nullptr || lost_folder) job = std::make_shared<Job>(loop_, place.splits_trials);
  job->has_folder = has_folder;
  job->asked = steady_clock::now();
  kept_.Set();
  return job;
}

ReportsKnown KeptJobs::KnownReports(std::int64_t uid) const {
  const auto found = jobs_.find(uid);
  return found == jobs_.end() ? ReportsKnown{} : found->second->reports;
}

boost::asio::awaitable<Status> KeptJobs::Ask(JobPlace place, ReportedCurves reported, Use use,
                                             TimePoint deadline) {
  const JobPtr job = Find(place);
  Turns::Waiter turn(job->turns);
  turn.Want();
  const TimePoint now = steady_clock::now();
  const steady_clock::duration left = std::max(deadline, now) - now;
  if (!co_await turn.WaitFor(std::min<steady_clock::duration>(left, kTurnWaitMax)))
    co_return std::unexpected(
        Unavailable("The curves of this job are being read for others: ask again in a few seconds."));
  const bool has_folder = !place.folder.bucket.empty();
  if (has_folder) co_await ReadNew(job, place, std::min(steady_clock::now() + kReadTimeMax, deadline));
  // A job that was forgotten meanwhile lacks the earlier trials: the next request reads them.
  if (job->reports == reported.before) {
    job->reports = reported.now;
    job->has_all_reports = job->has_all_reports || reported.is_at_end;
  }
  const bool is_listed = !has_folder || job->list_at != TimePoint{};
  const bool reading =
      !is_listed || !job->waiting.empty() || !job->list_token.empty() || !job->has_all_reports;
  auto work = [job, reading, curves = std::move(reported.curves), use = std::move(use)]() mutable {
    for (auto& [name, columns] : curves) job->gathered.Put(name, std::move(columns));
    job->gathered.Settle();
    use({.gathered = job->gathered, .reading = reading, .older = job->older});
    return job->gathered.bytes();
  };
  job->bytes = co_await OnPool(thread_, std::move(work));
  job->asked = steady_clock::now();
  ForgetSurplus();
  co_return Status{};
}

void KeptJobs::NoteListed(Job& job, const JobPlace& place, const storage::v1::Object& object) const {
  const std::string_view path = std::string_view(object.name()).substr(place.folder.object.size());
  if (measurement::KindOfMetricFile(path) == measurement::MetricFile::kNone) return;
  if (wire::FromProto(object.updated()) < place.created - kFileTimeSlack) {
    ++job.older;
    return;
  }
  const auto known = job.generations.find(object.name());
  const bool is_known = known != job.generations.end();
  if (is_known && known->second == object.generation()) return;
  const std::size_t others = job.generations.size() + (is_known ? 0 : job.waiting.size());
  if ((is_known || others < limits_.files) && job.waiting.size() < limits_.files)
    job.waiting.push_back(object.name());
}

/// Continues where the last listing ran out of time.
boost::asio::awaitable<void> KeptJobs::List(JobPtr job, const JobPlace& place, TimePoint deadline) {
  storage::NameQuery query;
  query.prefix = place.folder.object;
  query.match_glob = measurement::kMetricFilesGlob;
  query.results_max = kPageObjects;
  query.page_token = job->list_token;
  if (query.page_token.empty()) job->older = 0;
  do {
    const auto page = co_await buckets_.List(place.folder.bucket, query);
    query.page_token.clear();
    if (!page) break;  // the bucket does not exist yet, or is listed the next time
    for (const storage::v1::Object& object : page->items()) NoteListed(*job, place, object);
    query.page_token = page->next_page_token();
  } while (!query.page_token.empty() && steady_clock::now() < deadline);
  job->list_token = query.page_token;
}

boost::asio::awaitable<void> KeptJobs::ReadNew(JobPtr job, const JobPlace& place, TimePoint deadline) {
  const TimePoint now = steady_clock::now();
  if (now >= deadline) co_return;
  if (job->waiting.empty() && now >= job->list_at) {
    co_await List(job, place, deadline);
    const TimePoint listed = steady_clock::now();
    const bool is_whole = job->list_token.empty();
    job->list_at = is_whole
                       ? listed + std::max<steady_clock::duration>(kListedEvery, (listed - now) * kListRest)
                       : listed;
  }
  while (!job->waiting.empty() && steady_clock::now() < deadline) {
    if (co_await ReadFile(job, place, job->waiting.front(), deadline)) co_return;
    job->waiting.pop_front();
  }
}

/// True: there is more to read, but no time is left.
boost::asio::awaitable<bool> KeptJobs::ReadFile(JobPtr job, const JobPlace& place, std::string object,
                                                TimePoint deadline) {
  auto opened = co_await buckets_.OpenRead(place.folder.bucket, object);
  if (!opened) co_return false;  // deleted meanwhile
  const std::int64_t generation = opened->resource.generation();
  const auto file = std::make_shared<const storage::ReadableObject>(*std::move(opened));
  const std::string path = object.substr(place.folder.object.size());
  bool more = true;
  while (more) {
    if (steady_clock::now() >= deadline) co_return true;
    auto read = [job, file, path] { return ReadPart(job->gathered, path, *file); };
    more = co_await OnPool(thread_, std::move(read));
  }
  const auto [known, is_new] = job->generations.insert_or_assign(object, generation);
  if (is_new) job->name_bytes += known->first.size();
  co_return false;
}

void KeptJobs::ForgetBefore(TimePoint moment) {
  std::erase_if(jobs_, [moment](const auto& entry) {
    return entry.second->asked < moment && entry.second->turns.under_way() == 0;
  });
  if (jobs_.empty()) kept_.Reset();
}

void KeptJobs::ListAgain() {
  for (const auto& [uid, job] : jobs_) job->list_at = {};
}

/// The job that was used last is kept, however large it is.
void KeptJobs::ForgetSurplus() {
  const auto bytes = [this] {
    std::size_t sum = 0;
    for (const auto& [uid, job] : jobs_) sum += job->bytes + job->name_bytes;
    return sum;
  };
  while (jobs_.size() > 1 && (jobs_.size() > kJobsHeldMax || bytes() > limits_.bytes)) {
    auto oldest = jobs_.begin();
    for (auto entry = jobs_.begin(); entry != jobs_.end(); ++entry) {
      if (entry->second->asked < oldest->second->asked) oldest = entry;
    }
    jobs_.erase(oldest);
  }
}

boost::asio::awaitable<void> KeptJobs::ForgetForEver() {
  boost::asio::steady_timer timer(loop_);
  for (;;) {
    co_await kept_.Wait();
    timer.expires_after(kForgetEvery);
    co_await timer.async_wait(boost::asio::use_awaitable);
    ForgetBefore(steady_clock::now() - kForgottenAfter);
  }
}

}  // namespace trainyard::curves
