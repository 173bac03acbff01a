#include "control/curves/job_curves.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/on_pool.h"
#include "base/wire/json.h"
#include "base/wire/time.h"
#include "control/intake/instance.h"
#include "rules/jobs/trial.h"
#include "rules/measurement/hypertune_file.h"

namespace trainyard::curves {
namespace {

using boost::asio::awaitable;
using control::v1::JobRecord;

/// How long one query reads new bytes, for all of its jobs together.
constexpr std::chrono::seconds kQueryTimeMax{5};

JobPlace PlaceOf(const JobRecord& job) {
  JobPlace place{.uid = job.uid(),
                 .folder = {},
                 .splits_trials = job.has_tuning(),
                 .created = wire::FromProto(job.job().create_time())};
  std::string job_dir = jobs::JobDirOf(job);
  while (job_dir.ends_with('/')) job_dir.pop_back();
  if (auto folder = wire::ObjectUri::Parse(job_dir + "/")) place.folder = *std::move(folder);
  return place;
}

/// The reason why there are no curves: one sentence.
std::string NoteOf(const JobPlace& place, const std::string& job_dir, const std::string& refused,
                   const KeptJobs::CurveState& seen) {
  if (job_dir.empty())
    return "The job has no job-dir, so the server does not know where its program writes event files. Submit "
           "it with a jobDir, or start the program with trainyard run, which gives each job a folder.";
  if (!refused.empty())
    return "The job's account " + refused + " may not read the job-dir " + job_dir +
           ": give it roles/storage.objectViewer on the bucket.";
  if (place.folder.bucket.empty())
    return "The job's job-dir is " + job_dir +
           ", which is no gs:// folder of this server: its event files are not read.";
  if (seen.reading) return "The event files are being read.";
  if (seen.gathered.files() > 0) return "The event files below the job-dir have no scalars.";
  if (seen.older > 0)
    return "There are no event files below " + place.folder.ToString() + " but " +
           std::to_string(seen.older) + " from before the job.";
  return "There are no event files (*.tfevents.*) below " + place.folder.ToString() + " yet.";
}

void Append(const replica::v1::MetricReport& report, measurement::Columns& columns) {
  for (const replica::v1::Measurement& one : report.measurements()) {
    const std::chrono::duration<double> time = wire::FromProto(one.time()).time_since_epoch();
    columns.Append(static_cast<double>(one.step()), time.count(), static_cast<float>(one.value()));
  }
}

/// A trial's report that is not in an event file of its job directory, but from the metric file or from event
/// files in its own directories.
std::optional<std::pair<measurement::SeriesName, measurement::Columns>> ReportOf(const JobRecord& trial) {
  const replica::v1::MetricReport& report = trial.trial().report();
  if (report.measurements().empty() || report.place().starts_with("gs://")) return std::nullopt;
  measurement::SeriesName name{
      .trial_id = trial.trial().trial_id(), .run = {}, .tag = jobs::MetricTag(trial), .hypertune = true};
  if (report.place() != measurement::kMetricFile) {
    name.run = report.place();
    name.hypertune = false;
  }
  measurement::Columns columns;
  Append(report, columns);
  return std::pair(std::move(name), std::move(columns));
}

constexpr std::size_t kNumberBytesMax = 32;  ///< the shortest form of any double is shorter

template <class T>
void PrintNumber(T value, std::string& out) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    char text[kNumberBytesMax];
    const auto printed = std::to_chars(text, text + sizeof text, value);
    out.append(text, printed.ptr);
  }
}

void PrintName(std::string_view name, std::string& out) {
  if (!out.ends_with('{')) out += ',';
  out += '"';
  out += name;
  out += "\":";
}

template <class Column>
void PrintColumn(std::string_view name, const Column& column, std::string& out) {
  if (column.empty()) return;
  PrintName(name, out);
  char separator = '[';
  for (const auto value : column) {
    out += separator;
    PrintNumber(value, out);
    separator = ',';
  }
  out += ']';
}

void PrintCurve(const control::v1::ScalarCurves::Curve& curve, std::string& out) {
  out += '{';
  if (curve.has_name()) {
    PrintName("name", out);
    out += wire::PrintJsonCompact(curve.name());
  }
  PrintColumn("steps", curve.steps(), out);
  PrintColumn("times", curve.times(), out);
  PrintColumn("values", curve.values(), out);
  if (curve.points() != 0) {
    PrintName("points", out);
    out += '"' + std::to_string(curve.points()) + '"';
  }
  out += '}';
}

/// The approximate length of the answer.
std::size_t Length(const control::v1::ScalarCurves& curves) {
  constexpr std::size_t kPointBytes = 34;   // a step, a time in milliseconds, a value
  constexpr std::size_t kCurveBytes = 200;  // its name
  std::size_t points = 0;
  for (const auto& curve : curves.curves()) points += static_cast<std::size_t>(curve.values_size());
  return points * kPointBytes + static_cast<std::size_t>(curves.curves_size() + 1) * kCurveBytes;
}

}  // namespace

/// A job that a request asks about.
struct JobCurves::Asked {
  JobPlace place;
  std::string job_dir;
  std::string refused;  ///< the job's account, which has no right to read the job-dir; empty: it may
  KeptJobs::ReportedCurves reported;
};

JobCurves::JobCurves(boost::asio::any_io_executor loop, Outside outside)
    : outside_(std::move(outside)), kept_(loop, outside_.buckets), tasks_(loop) {
  tasks_.Spawn(kept_.ForgetForEver());
}

awaitable<KeptJobs::ReportedCurves> JobCurves::ReadReports(JobRecord job, KeptJobs::TimePoint deadline) {
  const ReportsKnown known = kept_.KnownReports(job.uid());
  KeptJobs::ReportedCurves reported{.curves = {}, .before = known, .now = known, .is_at_end = false};
  metrics::ReportQuery tags{.job_uid = job.uid(), .trial_ids = {}};
  if (!job.has_tuning()) tags.trial_ids.emplace_back();
  ReportRound round(known);
  bool is_at_end = !job.has_tuning();
  while (!is_at_end && !round.IsFull() && std::chrono::steady_clock::now() < deadline) {
    const Result<std::vector<JobRecord>> page =
        co_await outside_.jobs.tuning().TrialsNow(job.uid(), round.after());
    if (!page) break;
    is_at_end = page->empty();
    for (const JobRecord& trial : *page) {
      if (auto report = ReportOf(trial)) reported.curves.push_back(*std::move(report));
      tags.trial_ids.push_back(trial.trial().trial_id());
      round.Take(trial.uid(), trial.job().has_end_time());
    }
  }
  reported.now = round.Known(is_at_end);
  reported.is_at_end = is_at_end;
  co_await ReadTags(std::move(tags), reported);
  co_return reported;
}

/// The reports under any tag. Later attempts continue earlier ones, as in event files.
awaitable<void> JobCurves::ReadTags(metrics::ReportQuery query, KeptJobs::ReportedCurves& reported) {
  const auto stored = co_await outside_.reports.ListReports(std::move(query));
  if (!stored) co_return;  // the event files are shown nevertheless
  for (const metrics::StoredReport& one : *stored) {
    measurement::SeriesName name{.trial_id = one.trial_id, .run = {}, .tag = one.tag, .hypertune = true};
    if (reported.curves.empty() || reported.curves.back().first != name)
      reported.curves.emplace_back(std::move(name), measurement::Columns{});
    Append(one.report, reported.curves.back().second);
  }
}

awaitable<Result<JobCurves::Asked>> JobCurves::Find(wire::JobName name, KeptJobs::TimePoint deadline) {
  TY_CO_TRY(JobRecord job, co_await outside_.jobs.Record(std::move(name)));
  Asked asked{.place = PlaceOf(job), .job_dir = jobs::JobDirOf(job), .refused = {}, .reported = {}};
  std::string& bucket = asked.place.folder.bucket;
  if (!bucket.empty() && outside_.may_read) {
    std::string account = outside_.account_of(job);
    if (!outside_.may_read(account, bucket)) {
      bucket.clear();
      asked.refused = std::move(account);
    }
  }
  asked.reported = co_await ReadReports(std::move(job), deadline);
  co_return asked;
}

awaitable<Result<v1::ScalarList>> JobCurves::ListScalars(wire::JobName name) {
  TY_CO_TRY(Asked asked, co_await Find(name));
  const auto list = std::make_shared<v1::ScalarList>();  // shared with the thread
  if (!asked.place.folder.bucket.empty()) list->add_places(asked.job_dir);
  auto fill = [list, place = asked.place, job_dir = asked.job_dir, refused = asked.refused,
               job_id = name.job_id](const KeptJobs::CurveState& seen) {
    ListSeries(seen.gathered, job_id, *list);
    list->set_reading(seen.reading);
    if (list->items().empty()) list->set_note(NoteOf(place, job_dir, refused, seen));
  };
  TY_CO_RETURN_IF_ERROR(
      co_await kept_.Ask(std::move(asked.place), std::move(asked.reported), std::move(fill)));
  co_return std::move(*list);
}

awaitable<Result<v1::SummaryList>> JobCurves::ListSummaries(wire::JobName name) {
  TY_CO_TRY(Asked asked, co_await Find(name));
  const auto list = std::make_shared<v1::SummaryList>();
  auto fill = [list, name](const KeptJobs::CurveState& seen) {
    curves::ListSummaries(seen.gathered, name, *list);
    list->set_reading(seen.reading);
  };
  TY_CO_RETURN_IF_ERROR(
      co_await kept_.Ask(std::move(asked.place), std::move(asked.reported), std::move(fill)));
  co_return std::move(*list);
}

awaitable<Result<std::string>> JobCurves::QueryScalars(std::string project, v1::ScalarQuery query,
                                                       MaySee may_see) {
  TY_CO_RETURN_IF_ERROR(CheckQuery(query));
  const auto answer = std::make_shared<v1::ScalarCurves>();
  const auto wanted = std::make_shared<const v1::ScalarQuery>(std::move(query));
  std::map<std::string, std::vector<int>> by_job;
  for (int i = 0; i < wanted->names_size(); ++i) {
    *answer->add_curves()->mutable_name() = wanted->names(i);
    by_job[wanted->names(i).job_id()].push_back(i);
  }
  const KeptJobs::TimePoint deadline = std::chrono::steady_clock::now() + kQueryTimeMax;
  for (const auto& [job_id, positions] : by_job) {
    if (!co_await may_see(job_id)) continue;
    wire::JobName name{.project = project, .job_id = job_id};
    Result<Asked> asked = co_await Find(std::move(name), deadline);
    if (!asked && asked.error().code == Code::kNotFound) continue;
    if (!asked) co_return std::unexpected(asked.error());
    auto fill = [answer, wanted, positions](const KeptJobs::CurveState& seen) {
      for (const int i : positions) FillCurve(seen.gathered, *wanted, *answer->mutable_curves(i));
      if (seen.reading) answer->set_reading(true);
    };
    const Status seen =
        co_await kept_.Ask(std::move(asked->place), std::move(asked->reported), std::move(fill), deadline);
    if (!seen) answer->set_reading(true);  // other requests use the job: the next query may get it
  }
  auto print = [answer] { return PrintCurves(*answer); };
  co_return co_await OnPool(kept_.thread(), std::move(print));
}

awaitable<Result<SummaryBytes>> JobCurves::ReadSummary(wire::JobName name, SummaryName summary) {
  TY_CO_TRY(Asked asked, co_await Find(std::move(name)));
  const wire::ObjectUri folder = asked.place.folder;
  const auto found = std::make_shared<std::optional<measurement::KeptSummary>>();
  auto find = [found, summary = std::move(summary)](const KeptJobs::CurveState& seen) {
    const auto kept = seen.gathered.summaries().find(summary.series);
    if (kept == seen.gathered.summaries().end()) return;
    const auto one = std::ranges::find_if(
        kept->second, [&](const measurement::KeptSummary& each) { return each.value.step == summary.step; });
    if (one != kept->second.end()) *found = *one;
  };
  TY_CO_RETURN_IF_ERROR(
      co_await kept_.Ask(std::move(asked.place), std::move(asked.reported), std::move(find)));
  if (!*found)
    co_return std::unexpected(NotFound("The image or text does not exist: list the summaries again."));
  TY_CO_TRY(storage::ReadableObject object,
            co_await outside_.buckets.OpenRead(folder.bucket, folder.object + (*found)->file));
  const auto file = std::make_shared<const storage::ReadableObject>(std::move(object));
  auto read = [found, file] { return curves::ReadSummary(*file, (*found)->value); };
  co_return co_await OnPool(kept_.thread(), std::move(read));
}

std::string PrintCurves(const control::v1::ScalarCurves& curves) {
  std::string out;
  out.reserve(Length(curves));
  out += '{';
  if (!curves.curves().empty()) {
    PrintName("curves", out);
    char separator = '[';
    for (const auto& curve : curves.curves()) {
      out += separator;
      PrintCurve(curve, out);
      separator = ',';
    }
    out += ']';
  }
  if (curves.reading()) {
    PrintName("reading", out);
    out += "true";
  }
  out += "}\n";
  return out;
}

}  // namespace trainyard::curves
