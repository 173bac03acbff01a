#include "control/curves/scalar_answers.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "base/extremes.h"
#include "base/text/percent.h"
#include "base/wire/time.h"
#include "base/wire/utf8.h"
#include "rules/measurement/histogram.h"

namespace trainyard::curves {
namespace {

using measurement::SeriesName;
using measurement::SummaryValue;

using SeriesInJob = std::pair<std::string_view, SeriesName>;

constexpr int kPointsAskedMin = static_cast<int>(kExtremesMin);

google::protobuf::Timestamp TimeOf(double seconds) {
  const std::chrono::duration<double> since(
      std::isfinite(seconds) ? std::clamp(seconds, 0.0, 253'402'300'799.0) : 0);
  google::protobuf::Timestamp time;
  time.set_seconds(static_cast<std::int64_t>(since.count()));
  const double rest = since.count() - std::floor(since.count());
  time.set_nanos(static_cast<std::int32_t>(std::round(rest * 1e3)) % 1'000 * 1'000'000);
  return time;
}

v1::ScalarName NameOf(const SeriesName& name, const std::string& job_id) {
  v1::ScalarName shown;
  shown.set_job_id(job_id);
  shown.set_trial_id(name.trial_id);
  shown.set_run(name.run);
  shown.set_tag(name.tag);
  shown.set_hypertune(name.hypertune);
  return shown;
}

bool HasRange(const v1::ScalarQuery& query) { return query.from() != 0 || query.to() != 0; }

measurement::Range RangeOf(const v1::ScalarQuery& query) {
  measurement::Range range;
  if (query.axis() == v1::ScalarQuery::TIME) range.axis = measurement::Range::Axis::kTime;
  if (!HasRange(query)) return range;
  range.from = query.from();
  range.to = query.to();
  return range;
}

std::size_t PointsOfEach(const v1::ScalarQuery& query) {
  const int asked = query.points_max() == 0 ? kPointsDefault : query.points_max();
  const int together = kPointsTogetherMax / std::max(1, query.names_size());
  return static_cast<std::size_t>(std::max(std::min(asked, together), kPointsAskedMin));
}

std::string UriOf(const wire::JobName& job, const SeriesName& name, std::int64_t step) {
  return "/trainyard/v1/projects/" + text::PercentEncode(job.project) + "/jobs/" +
         text::PercentEncode(job.job_id) + "/summaries:read?trial=" + text::PercentEncode(name.trial_id) +
         "&run=" + text::PercentEncode(name.run) + "&tag=" + text::PercentEncode(name.tag) +
         "&step=" + std::to_string(step);
}

bool IsHistogram(const SummaryValue& value) {
  return value.kind == SummaryValue::Kind::kHistogram || value.kind == SummaryValue::Kind::kHistogramTensor;
}

v1::SummaryList::Item ItemOf(const wire::JobName& job, const SeriesName& name, const SummaryValue& value) {
  v1::SummaryList::Item item;
  item.set_trial_id(name.trial_id);
  item.set_run(name.run);
  item.set_tag(name.tag);
  item.set_step(static_cast<double>(value.step));
  *item.mutable_time() = TimeOf(value.time_s);
  item.set_image(value.kind == SummaryValue::Kind::kImage);
  item.set_histogram(IsHistogram(value));
  item.set_uri(UriOf(job, name, value.step));
  if (item.image()) {
    item.set_width(value.width);
    item.set_height(value.height);
  } else {
    const std::string_view shown = value.beginning;
    item.set_text(wire::ReplaceMalformed(shown.substr(0, wire::Utf8Prefix(shown, shown.size()))));
  }
  return item;
}

Status CheckNames(const v1::ScalarQuery& query) {
  if (query.names().empty())
    return std::unexpected(InvalidArgument("names", "Name at least one curve: a jobId and a tag."));
  if (query.names_size() > kNamesMax)
    return std::unexpected(
        InvalidArgument("names", "At most " + std::to_string(kNamesMax) + " curves are answered at once."));
  std::set<std::string_view> jobs;
  std::set<SeriesInJob> curves;
  for (const v1::ScalarName& name : query.names()) {
    jobs.insert(name.job_id());
    if (!curves.emplace(name.job_id(), SeriesNameOf(name)).second)
      return std::unexpected(InvalidArgument("names", "The curve " + name.tag() + " of job " + name.job_id() +
                                                          " is named twice; name each curve once."));
  }
  if (jobs.size() > kJobsMax)
    return std::unexpected(
        InvalidArgument("names", "Curves of at most " + std::to_string(kJobsMax) +
                                     " jobs are answered at once; ask in several queries."));
  return {};
}

struct Signature {
  std::string_view begins;
  std::string_view type;
};

using namespace std::string_view_literals;

constexpr std::array kSignatures{
    Signature{"\x89PNG\r\n\x1a\n"sv, "image/png"},
    Signature{"\xff\xd8\xff"sv, "image/jpeg"},
    Signature{"GIF87a"sv, "image/gif"},
    Signature{"GIF89a"sv, "image/gif"},
};

Result<SummaryBytes> BinsAsJson(std::string_view message, SummaryValue::Kind kind) {
  const auto bins = kind == SummaryValue::Kind::kHistogram ? measurement::BinsOfProto(message)
                                                           : measurement::BinsOfTensor(message);
  if (!bins) return std::unexpected(FailedPrecondition("This is not a histogram, so it is not shown."));
  return SummaryBytes{.content_type = "application/json", .bytes = measurement::PrintBins(*bins)};
}

}  // namespace

Status CheckQuery(const v1::ScalarQuery& query) {
  TY_RETURN_IF_ERROR(CheckNames(query));
  if (HasRange(query) && !(query.from() <= query.to()))
    return std::unexpected(InvalidArgument("to", "The range must not end before it begins (from)."));
  const int points = query.points_max();
  if (points != 0 && (points < kPointsAskedMin || points > kPointsMax))
    return std::unexpected(InvalidArgument("points_max", "pointsMax must be from " +
                                                             std::to_string(kPointsAskedMin) + " to " +
                                                             std::to_string(kPointsMax) + "."));
  return {};
}

void ListSeries(const measurement::Gathered& gathered, const std::string& job_id, v1::ScalarList& list) {
  list.set_more(list.more() || gathered.incomplete());
  for (const auto& [name, series] : gathered.series()) {
    const measurement::Columns& columns = series.columns;
    if (columns.empty()) continue;
    if (list.items_size() >= static_cast<int>(kSeriesListedMax)) {
      list.set_more(true);
      return;
    }
    v1::ScalarList::Item& item = *list.add_items();
    *item.mutable_name() = NameOf(name, job_id);
    item.set_points(static_cast<std::int64_t>(columns.size()));
    item.set_last_step(columns.steps.back());
    item.set_last_value(columns.values.back());
    *item.mutable_last_time() = TimeOf(columns.times.back());
  }
}

void ListSummaries(const measurement::Gathered& gathered, const wire::JobName& job, v1::SummaryList& list) {
  list.set_more(list.more() || gathered.incomplete());
  for (const auto& [name, kept] : gathered.summaries()) {
    for (const measurement::KeptSummary& summary : kept) {
      if (list.items_size() >= static_cast<int>(kSummariesListedMax)) {
        list.set_more(true);
        return;
      }
      *list.add_items() = ItemOf(job, name, summary.value);
    }
  }
}

SeriesName SeriesNameOf(const v1::ScalarName& name) {
  return {.trial_id = name.trial_id(), .run = name.run(), .tag = name.tag(), .hypertune = name.hypertune()};
}

void FillCurve(const measurement::Gathered& gathered, const v1::ScalarQuery& query,
               v1::ScalarCurves::Curve& curve) {
  const auto found = gathered.series().find(SeriesNameOf(curve.name()));
  if (found == gathered.series().end()) return;
  const measurement::Part part =
      measurement::PartOf(found->second.columns, RangeOf(query), PointsOfEach(query));
  const measurement::Columns& columns = part.columns;
  curve.mutable_steps()->Add(columns.steps.begin(), columns.steps.end());
  if (!query.without_times()) curve.mutable_times()->Add(columns.times.begin(), columns.times.end());
  curve.mutable_values()->Add(columns.values.begin(), columns.values.end());
  curve.set_points(static_cast<std::int64_t>(part.points));
}

std::string_view ImageType(std::string_view bytes) {
  for (const Signature& signature : kSignatures) {
    if (bytes.starts_with(signature.begins)) return signature.type;
  }
  const bool is_webp = bytes.size() >= 14 && bytes.starts_with("RIFF") && bytes.substr(8, 6) == "WEBPVP";
  return is_webp ? "image/webp"sv : ""sv;
}

Result<SummaryBytes> ReadSummary(const storage::ReadableObject& object,
                                 const measurement::SummaryValue& value) {
  if (value.extent.length > kSummaryBytesMax)
    return std::unexpected(FailedPrecondition("It has " + std::to_string(value.extent.length) +
                                              " bytes: more than is shown. Read it from the event file."));
  SummaryBytes summary{.content_type = {}, .bytes = std::string(value.extent.length, '\0')};
  std::size_t size = 0;
  while (size < summary.bytes.size()) {
    const ssize_t got = pread(object.file.get(), summary.bytes.data() + size, summary.bytes.size() - size,
                              static_cast<off_t>(value.extent.offset + size));
    if (got <= 0) return std::unexpected(NotFound("The event file has changed: list the summaries again."));
    size += static_cast<std::size_t>(got);
  }
  if (value.kind == measurement::SummaryValue::Kind::kText) {
    summary.content_type = "text/plain; charset=utf-8";
    summary.bytes = wire::ReplaceMalformed(summary.bytes);
    return summary;
  }
  if (IsHistogram(value)) return BinsAsJson(summary.bytes, value.kind);
  summary.content_type = ImageType(summary.bytes);
  if (summary.content_type.empty())
    return std::unexpected(
        FailedPrecondition("This is not a PNG, JPEG, GIF or WebP image, so it is not shown."));
  return summary;
}

}  // namespace trainyard::curves
