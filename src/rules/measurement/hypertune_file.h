#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

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
  explicit HypertuneFile(std::string tag) : tag_(std::move(tag)) {}

  /// Reads the file's current contents (ForEachHypertuneValue). True: something in it was new.
  bool Read(std::string_view contents);

  [[nodiscard]] const Curve& curve() const noexcept { return curve_; }
  /// Other tags that have been reported; at most kSeenTagsMax.
  [[nodiscard]] const std::set<std::string>& seen_tags() const noexcept { return seen_tags_; }

 private:
  std::string tag_;
  Curve curve_;
  std::set<std::string> seen_tags_;
};

}  // namespace trainyard::measurement
