#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/measurement/curve.h"

namespace trainyard::measurement {

/// The metric file's path for programs: cloudml-hypertune's default. Source: spec hyperparameter-tuning.md
/// section 5.
inline constexpr std::string_view kMetricFile = "/tmp/hypertune/output.metrics";

/// One value of a report.
struct HypertuneValue {
  std::string_view tag;
  std::int64_t step = 0;
  double time_s = 0;            ///< seconds since 1970; 0: not in the report
  std::optional<double> value;  ///< may be NaN or infinite; nullopt: not a number
};

/// Calls `take` for all values in the file, in order. Lines that are not reports are skipped: the file may be
/// read while it is being written. Values may be numbers, strings with numbers, NaN and infinite. Pure.
void ForEachHypertuneValue(std::string_view contents,
                           const std::function<void(const HypertuneValue& value)>& take);

/// The file that cloudml-hypertune writes: a JSON object per line, the newest 100 reports, rewritten for each
/// report. This class keeps what it has read, so that nothing is lost if there are more reports. Pure; one
/// thread at a time. Source: spec hyperparameter-tuning.md section 5.
class HypertuneFile {
 public:
  /// @param tags  not empty; the first one's measurements are `measurements` of reports, those of the others
  ///              are `further`
  explicit HypertuneFile(std::vector<std::string> tags) : tags_(std::move(tags)), curves_(tags_.size()) {}

  /// Reads the file's current contents (ForEachHypertuneValue). True: something in it was new.
  bool Read(std::string_view contents);

  /// By tag, in the order of the constructor.
  [[nodiscard]] const std::vector<Curve>& curves() const noexcept { return curves_; }
  /// Whether it has values of this tag.
  [[nodiscard]] bool Has(std::string_view tag) const;
  /// Sets the measurements of all tags in the report; no places and no seen tags.
  void Print(replica::v1::MetricReport& report) const;
  /// Other tags that have been reported, and tags whose values were no numbers; at most kSeenTagsMax.
  [[nodiscard]] const std::set<std::string>& seen_tags() const noexcept { return seen_tags_; }

 private:
  std::vector<std::string> tags_;
  std::vector<Curve> curves_;
  std::set<std::string> seen_tags_;
};

}  // namespace trainyard::measurement
