#pragma once

#include <string_view>

namespace trainyard::measurement {

/// The metric file as programs see it: the path that cloudml-hypertune takes without being told another one.
/// Source: spec hyperparameter-tuning.md section 5.
inline constexpr std::string_view kMetricFile = "/tmp/hypertune/output.metrics";

}  // namespace trainyard::measurement
