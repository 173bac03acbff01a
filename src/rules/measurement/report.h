#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/wire/utf8.h"
#include "rules/measurement/hypertune_file.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Reports of metrics, from data that the trials' programs wrote. Pure: any thread.
namespace trainyard::measurement {

/// The trial's result: the last measurement by step, then time. Nullopt: there is none, or it is not finite.
/// Source: spec hyperparameter-tuning.md sections 5 and 8.
[[nodiscard]] std::optional<replica::v1::Measurement> FinalMeasurement(
    const replica::v1::MetricReport& report);

/// The same for one of the report's further tags.
[[nodiscard]] std::optional<replica::v1::Measurement> FinalMeasurementOf(
    std::string_view further_tag, const replica::v1::MetricReport& report);

/// Whether the report has measurements of one of its further tags.
[[nodiscard]] bool Measured(std::string_view further_tag, const replica::v1::MetricReport& report);

/// Whether any tag was measured.
[[nodiscard]] bool HasMeasurements(const replica::v1::MetricReport& report);

/// Adds the measurements of `second` for each tag that `first` has not measured.
void FillIn(replica::v1::MetricReport& first, const replica::v1::MetricReport& second);

/// Merges two reports of one trial: for each tag the measurements of `first` if it has some, else those of
/// `second`; places and seen tags of both.
[[nodiscard]] replica::v1::MetricReport Merge(replica::v1::MetricReport first,
                                              const replica::v1::MetricReport& second);

/// One sentence for the user about a trial without a result, which has one only if each tag has one. It is
/// about the first of `tags` that lacks one: that it was not reported, where it was looked for, and which
/// tags were seen instead; or that the last value is not a number. Empty if there is a result.
///
/// @param tags  not empty; the first one's measurements are `measurements`, the others are `further`
[[nodiscard]] std::string ExplainNoMetric(std::span<const std::string> tags,
                                          const replica::v1::MetricReport& report);

/// A line for the trial's log: the tag was only found with a suffix that TensorFlow added.
[[nodiscard]] std::string SpellingWarning(std::string_view tag, std::string_view spelling,
                                          std::string_view place);

/// If the tag that was looked for is missing, the message names this many other tags, with this many bytes of
/// each.
inline constexpr std::size_t kSeenTagsMax = 20;
inline constexpr std::size_t kTagBytesMax = 128;

/// The part of a tag that is shown. Pure.
inline std::string ShownTag(std::string_view tag) {
  return wire::ReplaceMalformed(tag.substr(0, wire::Utf8Prefix(tag, kTagBytesMax)));
}

/// Adds a tag to the list for the user. Pure.
inline void NoteTag(std::set<std::string>& seen, std::string_view tag) {
  if (seen.size() < kSeenTagsMax) seen.insert(ShownTag(tag));
}

}  // namespace trainyard::measurement
