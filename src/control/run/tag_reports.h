#pragma once

#include "stores/metrics/usage_history.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

struct Reporter {
  int replica = 0;  ///< position in the job's record
  int attempt = 0;
};

/// Stores what a master's program reported under one tag (measurement::TagOf). Null history: nothing is
/// stored. Only the master's program counts: reports of other replicas are dropped.
/// @return true if nothing more is to be done: it is not a master's report of a trial's metric. Loop thread.
/// Source: spec hyperparameter-tuning.md section 5.
[[nodiscard]] bool KeepTagReport(metrics::UsageHistory* history, const v1::JobRecord& job, Reporter reporter,
                                 const replica::v1::MetricReport& report);

}  // namespace trainyard::control
