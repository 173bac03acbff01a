#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules/measurement/curve.h"
#include "rules/measurement/hypertune_file.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::measurement {

/// The maximum number of tags per program; further ones are ignored.
inline constexpr std::size_t kReportedTagsMax = 100;

/// The report of one tag, independent of the tag that a tuning job looks for. It has only the tag in
/// `seen_tags`, and no searched places; a trial's report always has some.
[[nodiscard]] replica::v1::MetricReport ReportOfTag(std::string_view tag);
/// The tag of a report by ReportOfTag; empty: it is a trial's report.
[[nodiscard]] std::string_view TagOf(const replica::v1::MetricReport& report);

/// All values that a program reported with cloudml-hypertune, for every tag. It keeps what it has read, so
/// that nothing is lost if there are more reports than the file has. Pure; one thread at a time.
class HypertuneTags {
 public:
  /// @param but  a tag to ignore, because other code reads it; empty: none.
  explicit HypertuneTags(std::string but) : but_(std::move(but)) {}

  /// Reads the file's current contents.
  void Read(std::string_view contents);

  /// Whether there is something new since the last TakeChanged.
  [[nodiscard]] bool changed() const noexcept { return !changed_.empty(); }
  /// Returns the complete reports of the tags that have changed, and marks them as unchanged.
  [[nodiscard]] std::vector<replica::v1::MetricReport> TakeChanged();
  [[nodiscard]] std::vector<replica::v1::MetricReport> All() const;
  /// Only the newest value, of any tag. Without measurements if there is none.
  [[nodiscard]] const replica::v1::MetricReport& last() const noexcept { return last_; }

 private:
  void Take(const HypertuneValue& value);
  [[nodiscard]] replica::v1::MetricReport ReportOf(const std::string& tag) const;

  std::string but_;
  std::map<std::string, Curve> curves_;
  std::set<std::string> changed_;
  replica::v1::MetricReport last_;
  double last_s_ = 0;
};

}  // namespace trainyard::measurement
