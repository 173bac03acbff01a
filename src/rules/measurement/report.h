#pragma once

#include <cstddef>
#include <optional>
#include <set>
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

/// Merges two reports of one trial: the measurements of `first` if it has some, else those of `second`;
/// places and tags of both.
[[nodiscard]] replica::v1::MetricReport Merge(replica::v1::MetricReport first,
                                              const replica::v1::MetricReport& second);

/// One sentence for the user about a trial without a result: which tag was looked for, where, and which tags
/// were seen instead; or that the last value is not a number. Empty if there is a result.
[[nodiscard]] std::string ExplainNoMetric(std::string_view tag, const replica::v1::MetricReport& report);

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
