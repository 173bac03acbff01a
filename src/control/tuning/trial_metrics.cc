#include "control/tuning/trial_metrics.h"

#include <unistd.h>

#include <map>
#include <set>
#include <utility>

#include "base/async/on_pool.h"
#include "base/wire/resource_name.h"
#include "base/wire/time.h"
#include "rules/jobs/trial.h"
#include "rules/measurement/report.h"
#include "rules/measurement/summaries.h"

namespace trainyard::control {
namespace {

using measurement::Summaries;
using replica::v1::MetricReport;

/// Page size of a listing; only event files are listed.
constexpr std::size_t kPageObjects = 1000;

/// Reads the whole new part of one file. Blocks.
void ReadObject(Summaries& summaries, const std::string& root, const std::string& path,
                const storage::ReadableObject& object) {
  const measurement::FileVersion now{.id = static_cast<std::uint64_t>(object.resource.generation()),
                                     .size = object.resource.size()};
  const auto read_at = [&object](std::uint64_t offset, std::span<char> buffer) {
    const ssize_t got = pread(object.file.get(), buffer.data(), buffer.size(), static_cast<off_t>(offset));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  };
  summaries.Read(root, path, now, now.size, read_at);
}

std::string CountedFiles(std::size_t count, std::size_t older) {
  std::string text =
      count == 0 ? "no event files" : std::to_string(count) + (count == 1 ? " event file" : " event files");
  if (older > 0) text += ", " + std::to_string(older) + " from before the trial";
  return " (" + text + ")";
}

}  // namespace

struct TrialMetrics::State {
  std::vector<std::string> tags;
  SysTime oldest;  ///< objects written earlier are not the trial's
  storage::Buckets& buckets;
  std::string job_dir;     ///< without a slash at its end; empty: none
  wire::ObjectUri folder;  ///< the same, with a slash
  MetricReport reported;   ///< by the supervisor
  MetricReport previous;   ///< what a previous server process read from the bucket
  /// Shared with the task that reads, which alone uses it while it runs: the loop looks at `seen`.
  std::shared_ptr<Summaries> summaries;
  MetricReport seen;                                ///< of `summaries`
  std::vector<measurement::RenamedTag> renamed;     ///< the same
  std::map<std::string, std::int64_t> generations;  ///< of files that are read
  std::size_t older = 0;                            ///< event files that are not the trial's
  MetricReport merged;
  std::set<std::pair<std::string, std::string>> warned;  ///< tags and spellings that the user knows of

  void Look();
  bool Merge();
  [[nodiscard]] bool IsFromSummaries(const measurement::RenamedTag& tag) const;
  boost::asio::awaitable<void> ReadNew(std::string object, std::int64_t generation);
};

TrialMetrics::TrialMetrics(const std::vector<std::string>& tags, std::string job_dir, SysTime created,
                           storage::Buckets& buckets)
    : state_(new State{.tags = tags,
                       .oldest = created - kFileTimeSlack,
                       .buckets = buckets,
                       .summaries = std::make_shared<Summaries>(tags)}) {
  while (job_dir.ends_with('/')) job_dir.pop_back();
  auto folder = wire::ObjectUri::Parse(job_dir + "/");
  if (!folder) return;  // it has no job directory
  state_->job_dir = std::move(job_dir);
  state_->folder = *std::move(folder);
  state_->Look();
}

TrialMetrics::~TrialMetrics() = default;

/// Call it only while no task reads.
void TrialMetrics::State::Look() {
  seen = summaries->Report();
  seen.add_places(job_dir + CountedFiles(summaries->files(), older));
  renamed = summaries->RenamedTags();
}

bool TrialMetrics::State::Merge() {
  const bool from_metric_file = reported.place().ends_with(measurement::kMetricFile);
  MetricReport now = from_metric_file || reported.measurements().empty() ? measurement::Merge(reported, seen)
                                                                         : measurement::Merge(seen, reported);
  if (now.measurements().empty())
    now = measurement::Merge(std::move(now), previous);
  else
    measurement::FillIn(now, previous);
  const bool changed = now.SerializeAsString() != merged.SerializeAsString();
  merged = std::move(now);
  return changed;
}

bool TrialMetrics::Take(MetricReport reported) {
  if (reported.place().starts_with("gs://")) {
    state_->previous = std::move(reported);
    state_->previous.clear_places();
  } else if (measurement::HasMeasurements(reported) || !measurement::HasMeasurements(state_->reported)) {
    measurement::FillIn(reported, state_->reported);
    state_->reported = std::move(reported);
  }
  return state_->Merge();
}

boost::asio::awaitable<void> TrialMetrics::State::ReadNew(std::string object, std::int64_t generation) {
  const auto known = generations.find(object);
  if (known != generations.end() && known->second == generation) co_return;
  auto opened = co_await buckets.OpenRead(folder.bucket, object);
  if (!opened) co_return;  // deleted meanwhile, or read the next time
  const std::int64_t read_generation = opened->resource.generation();
  auto file = std::make_shared<storage::ReadableObject>(*std::move(opened));
  auto read = [summaries = summaries, file, root = job_dir, path = object.substr(folder.object.size())] {
    ReadObject(*summaries, root, path, *file);
  };
  co_await OnPool(buckets.files(), std::move(read));
  generations[object] = read_generation;
}

boost::asio::awaitable<bool> TrialMetrics::ReadSummaries() {
  if (state_->job_dir.empty()) co_return false;
  storage::NameQuery query;
  query.prefix = state_->folder.object;
  query.match_glob = "**.tfevents.*";
  query.results_max = kPageObjects;
  state_->older = 0;
  do {
    const auto page = co_await state_->buckets.List(state_->folder.bucket, query);
    if (!page) break;  // the bucket does not exist yet, or is read the next time
    for (const auto& object : page->items()) {
      if (!measurement::IsEventFile(object.name())) continue;
      if (wire::FromProto(object.updated()) < state_->oldest) {
        ++state_->older;
        continue;
      }
      co_await state_->ReadNew(object.name(), object.generation());
    }
    query.page_token = page->next_page_token();
  } while (!query.page_token.empty());
  state_->Look();
  co_return state_->Merge();
}

const MetricReport& TrialMetrics::report() const noexcept { return state_->merged; }

std::string TrialMetrics::WhyNone() const {
  return measurement::ExplainNoMetric(state_->tags, state_->merged);
}

bool TrialMetrics::State::IsFromSummaries(const measurement::RenamedTag& tag) const {
  if (tag.tag == tags.front()) return merged.place() == seen.place();
  return !measurement::Measured(tag.tag, reported);
}

std::string TrialMetrics::TakeWarning() {
  for (const measurement::RenamedTag& renamed : state_->renamed) {
    if (!state_->IsFromSummaries(renamed)) continue;
    if (!state_->warned.emplace(renamed.tag, renamed.spelling).second) continue;
    return measurement::SpellingWarning(renamed.tag, renamed.spelling, renamed.place);
  }
  return {};
}

TrialWatch::TrialWatch(boost::asio::any_io_executor loop, const v1::JobRecord& trial,
                       storage::Buckets& buckets, OnReport on_report)
    : metrics_(jobs::MetricTags(trial), jobs::TrialJobDir(trial), wire::FromProto(trial.job().create_time()),
               buckets),
      on_report_(std::move(on_report)),
      finish_(loop),
      idle_(loop) {
  idle_.Set();
  if (trial.trial().has_report()) static_cast<void>(metrics_.Take(trial.trial().report()));
  for (const v1::ReplicaRecord& replica : trial.replicas()) {  // it has ended and is not measured yet
    if (replica.exit().has_metrics() && replica.id().type() == replica::v1::MASTER)
      static_cast<void>(metrics_.Take(replica.exit().metrics()));
  }
}

void TrialWatch::Take(replica::v1::MetricReport reported) {
  if (metrics_.Take(std::move(reported))) on_report_();
}

boost::asio::awaitable<void> TrialWatch::Run() {
  while (!finishing_) {
    if (co_await finish_.WaitFor(kSummariesInterval)) co_return;
    idle_.Reset();
    const bool changed = co_await metrics_.ReadSummaries();
    idle_.Set();
    if (changed) on_report_();
  }
}

boost::asio::awaitable<v1::Event::TrialMeasured> TrialWatch::Finish() {
  finishing_ = true;
  finish_.Set();
  co_await idle_.Wait();
  if (co_await metrics_.ReadSummaries()) on_report_();
  v1::Event::TrialMeasured measured;
  *measured.mutable_report() = metrics_.report();
  measured.set_no_metric(metrics_.WhyNone());
  co_return measured;
}

}  // namespace trainyard::control
