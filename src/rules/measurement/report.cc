#include "rules/measurement/report.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace trainyard::measurement {

namespace {

using replica::v1::Measurement;
using replica::v1::MetricReport;

template <class List>
std::string Listed(const List& items, std::string_view nothing) {
  std::string text;
  for (const std::string_view item : items) text.append(text.empty() ? "" : ", ").append(item);
  return text.empty() ? std::string(nothing) : text;
}

using Measurements = google::protobuf::RepeatedPtrField<Measurement>;

std::optional<Measurement> LastFinite(const Measurements& measurements) {
  if (measurements.empty()) return std::nullopt;
  const Measurement& last = *measurements.rbegin();
  return std::isfinite(last.value()) ? std::optional(last) : std::nullopt;
}

const Measurements& FurtherOf(std::string_view tag, const MetricReport& report) {
  const auto found = std::ranges::find(report.further(), tag, &MetricReport::Further::tag);
  return found == report.further().end() ? MetricReport::default_instance().measurements()
                                         : found->measurements();
}

/// The values of one tag ended with one that is not finite. @param from  where they are from; empty: unknown
std::string ExplainNotFinite(const Measurement& last, const std::string& from) {
  const char* what = std::isnan(last.value()) ? "not a number" : "infinite";
  return std::string(" was ") + what + " at the end (step " + std::to_string(last.step()) +
         (from.empty() ? "" : "; from " + from) + ").";
}

}  // namespace

std::optional<Measurement> FinalMeasurement(const MetricReport& report) {
  return LastFinite(report.measurements());
}

std::optional<Measurement> FinalMeasurementOf(std::string_view further_tag, const MetricReport& report) {
  return LastFinite(FurtherOf(further_tag, report));
}

bool Measured(std::string_view further_tag, const MetricReport& report) {
  return !FurtherOf(further_tag, report).empty();
}

bool HasMeasurements(const MetricReport& report) {
  return !report.measurements().empty() || !report.further().empty();
}

void FillIn(MetricReport& first, const MetricReport& second) {
  if (first.measurements().empty()) {
    *first.mutable_measurements() = second.measurements();
    first.set_place(second.place());
  }
  for (const MetricReport::Further& further : second.further())
    if (!Measured(further.tag(), first)) *first.add_further() = further;
}

MetricReport Merge(MetricReport first, const MetricReport& second) {
  FillIn(first, second);
  first.mutable_places()->MergeFrom(second.places());
  std::set<std::string> tags(first.seen_tags().begin(), first.seen_tags().end());
  for (const std::string& tag : second.seen_tags()) NoteTag(tags, tag);
  first.mutable_seen_tags()->Assign(tags.begin(), tags.end());
  return first;
}

std::string ExplainNoMetric(std::span<const std::string> tags, const MetricReport& report) {
  const auto measured = [&](const std::string& tag) -> const Measurements& {
    return &tag == tags.data() ? report.measurements() : FurtherOf(tag, report);
  };
  const auto lacks = [&](const std::string& tag) { return !LastFinite(measured(tag)); };
  const auto lacking = std::ranges::find_if(tags, lacks);
  if (lacking == tags.end()) return {};
  const std::string& tag = *lacking;
  const std::string metric = "The metric '" + tag + "'";
  if (!measured(tag).empty())
    return metric + ExplainNotFinite(*measured(tag).rbegin(), &tag == tags.data() ? report.place() : "");
  if (std::ranges::find(report.seen_tags(), tag) != report.seen_tags().end())
    return metric +
           " was reported only with values that are no numbers: report a float, such as a tensor's item().";
  std::vector<std::string_view> seen;  // the job's other metrics, too: they show that reports arrive
  for (const std::string& other : tags)
    if (!measured(other).empty()) seen.push_back(other);
  seen.insert(seen.end(), report.seen_tags().begin(), report.seen_tags().end());
  return metric + " was not reported: looked in " + Listed(report.places(), "no place") +
         "; tags seen: " + Listed(seen, "none") + ".";
}

std::string SpellingWarning(std::string_view tag, std::string_view spelling, std::string_view place) {
  std::string text = "No summary is called '";
  text.append(tag).append("': the only one that TensorFlow may have renamed, '").append(spelling);
  return text.append("' in ").append(place).append(", counts as the metric.");
}

}  // namespace trainyard::measurement
