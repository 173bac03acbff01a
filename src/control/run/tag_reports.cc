#include "control/run/tag_reports.h"

#include <string>

#include "control/run/service_log.h"
#include "rules/measurement/hypertune_tags.h"

namespace trainyard::control {

bool KeepTagReport(metrics::UsageHistory* history, const v1::JobRecord& job, Reporter reporter,
                   const replica::v1::MetricReport& report) {
  if (job.replicas(reporter.replica).id().type() != replica::v1::MASTER) return true;
  const std::string tag(measurement::TagOf(report));
  if (tag.empty()) return false;
  if (history != nullptr) {
    history->Put({.job_uid = LogUid(job),
                  .trial_id = job.trial().trial_id(),
                  .attempt = reporter.attempt,
                  .tag = tag,
                  .report = report});
  }
  return true;
}

}  // namespace trainyard::control
