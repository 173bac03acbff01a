#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/upkeep/figures.h"
#include "rules/jobs/accelerator_quota.h"
#include "rules/placement/quota.h"
#include "rules/placement/quota_gate.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// A new job, and the existing jobs.
struct JobQuotaCase {
  const v1::JobRecord& asking;
  const placement::QuotaDemand& demand;               ///< of the job, or of one trial of it
  std::string_view engine = placement::kLocalEngine;  ///< the requested engine, under its name in quotas
  const ProjectBytes* bytes = nullptr;                ///< null: not counted
  std::vector<const v1::JobRecord*> unfinished{};     ///< jobs of all projects, without trials
};

/// Checks the quota of accelerators by type. Counts every job that may still use its accelerators; a tuning
/// job counts for all trials that may run at the same time. Errors as jobs::CheckAcceleratorQuota. Pure.
[[nodiscard]] Status CheckAccelerators(const jobs::AcceleratorCounts& quota, const JobQuotaCase& job);

/// Whether the quotas of the job's project and creator allow creating it: kResourceExhausted, with the
/// subject in `violations`, if they have too many unfinished jobs or too many bytes stored, or the job asks
/// for more than the quota could ever allow. (A job that only exceeds the quota now waits:
/// rules/placement/quota_gate.h.) Worded as Google's quota errors: spec api.md section 8. Pure.
[[nodiscard]] Status CheckJobQuotas(const placement::Quotas& quotas, const JobQuotaCase& job);

}  // namespace trainyard::control
