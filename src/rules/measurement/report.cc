#include "rules/measurement/report.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace trainyard::measurement {

namespace {

using replica::v1::MetricReport;

template <class List>
std::string Listed(const List& items, std::string_view nothing) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? std::string(nothing) : text;
}

}  // namespace

std::optional<replica::v1::Measurement> FinalMeasurement(const MetricReport& report) {
  if (report.measurements().empty()) return std::nullopt;
  const replica::v1::Measurement& last = *report.measurements().rbegin();
  return std::isfinite(last.value()) ? std::optional(last) : std::nullopt;
}

MetricReport Merge(MetricReport first, const MetricReport& second) {
  if (first.measurements().empty()) {
    *first.mutable_measurements() = second.measurements();
    first.set_place(second.place());
  }
  first.mutable_places()->MergeFrom(second.places());
  std::set<std::string> tags(first.seen_tags().begin(), first.seen_tags().end());
  for (const std::string& tag : second.seen_tags()) NoteTag(tags, tag);
  first.mutable_seen_tags()->Assign(tags.begin(), tags.end());
  return first;
}

std::string ExplainNoMetric(std::string_view tag, const MetricReport& report) {
  if (FinalMeasurement(report)) return {};
  const std::string metric = "The metric '" + std::string(tag) + "'";
  if (!report.measurements().empty()) {
    const replica::v1::Measurement& last = *report.measurements().rbegin();
    const char* what = std::isnan(last.value()) ? "not a number" : "infinite";
    return metric + " was " + what + " at the end (step " + std::to_string(last.step()) + "; from " +
           report.place() + ").";
  }
  if (std::ranges::find(report.seen_tags(), tag) != report.seen_tags().end())
    return metric +
           " was reported only with values that are no numbers: report a float, such as a tensor's item().";
  return metric + " was not reported: looked in " + Listed(report.places(), "no place") +
         "; tags seen: " + Listed(report.seen_tags(), "none") + ".";
}

std::string SpellingWarning(std::string_view tag, std::string_view spelling, std::string_view place) {
  std::string text = "No summary is called '";
  text.append(tag).append("': the only one that TensorFlow may have renamed, '").append(spelling);
  return text.append("' in ").append(place).append(", counts as the metric.");
}

}  // namespace trainyard::measurement
