#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "rules/measurement/curve.h"

namespace trainyard::measurement {

/// The metric file as programs see it: the path that cloudml-hypertune takes without being told another one.
/// Source: spec hyperparameter-tuning.md section 5.
inline constexpr std::string_view kMetricFile = "/tmp/hypertune/output.metrics";

/// One value of a report.
struct HypertuneValue {
  std::string_view tag;
  std::int64_t step = 0;
  double time_s = 0;            ///< seconds since 1970; 0: the report does not say
  std::optional<double> value;  ///< may be NaN or infinite; nothing: it is no number
};

/// All values that the file holds, in its order. Lines that are no reports are skipped: the file may be read
/// while it is being written. Values may be numbers, texts of numbers, NaN and infinite ones. Pure.
void ForEachHypertuneValue(std::string_view contents,
                           const std::function<void(const HypertuneValue& value)>& take);

/// The file that cloudml-hypertune writes: a JSON object per line, the newest 100 reports, all of it again
/// with each report. Keeps what it has read, so that nothing is lost where there are more. Pure; one thread
/// at a time. Source: spec hyperparameter-tuning.md section 5.
class HypertuneFile {
 public:
  explicit HypertuneFile(std::string tag) : tag_(std::move(tag)) {}

  /// All that the file holds now (ForEachHypertuneValue). True: something in it was new.
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
