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

/// Of one program; what it reports under others is not kept.
inline constexpr std::size_t kReportedTagsMax = 100;

/// The report of one tag, whatever a tuning job looks for: `seen_tags` has the tag alone, and no places were
/// searched, of which a trial's report always names some.
[[nodiscard]] replica::v1::MetricReport ReportOfTag(std::string_view tag);
/// Empty: it is a trial's report.
[[nodiscard]] std::string_view TagOf(const replica::v1::MetricReport& report);

/// All that a program reported with cloudml-hypertune, of every tag; keeps what it has read, so that nothing
/// is lost where there are more reports than the file has. Pure; one thread at a time.
class HypertuneTags {
 public:
  /// @param but  a tag that is somebody else's; empty: none is.
  explicit HypertuneTags(std::string but) : but_(std::move(but)) {}

  /// All that the file holds now.
  void Read(std::string_view contents);

  /// Whether something is new since TakeChanged.
  [[nodiscard]] bool changed() const noexcept { return !changed_.empty(); }
  /// The whole reports of the tags that have changed, and forgets that they have.
  [[nodiscard]] std::vector<replica::v1::MetricReport> TakeChanged();
  [[nodiscard]] std::vector<replica::v1::MetricReport> All() const;
  /// The newest value alone, of whichever tag. Without measurements: there is none.
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
