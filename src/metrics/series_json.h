#pragma once

#include <span>
#include <string>

#include "metrics/series.h"

namespace trainyard::metrics {

/// The answer of Cloud Monitoring's projects.timeSeries.list: points newest first, resource `cloudml_job`.
/// Pure: any thread. Source: the Monitoring API v3, ListTimeSeriesResponse; the labels are the original's and
/// task_name.
[[nodiscard]] std::string PrintSeries(const std::string& project, const std::string& job_id,
                                      std::span<const Series> series);

}  // namespace trainyard::metrics
