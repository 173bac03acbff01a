#pragma once

#include "stores/metrics/usage_history.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

struct Reporter {
  int replica = 0;  ///< its place in the job's record
  int attempt = 0;
};

/// Keeps what a master's program reported under one tag (measurement::TagOf). Null history: nothing is kept.
/// The program of the master is the one that reports: what others' say is not kept.
/// @return whether that is all: it is not a master's report of a trial's metric. Loop thread.
/// Source: spec hyperparameter-tuning.md section 5.
[[nodiscard]] bool KeepTagReport(metrics::UsageHistory* history, const v1::JobRecord& job, Reporter reporter,
                                 const replica::v1::MetricReport& report);

}  // namespace trainyard::control
