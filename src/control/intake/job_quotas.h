#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/upkeep/project_bytes.h"
#include "rules/jobs/accelerator_quota.h"
#include "rules/placement/quota.h"
#include "rules/placement/quota_gate.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// A new job, and what is there already.
struct JobQuotaCase {
  const v1::JobRecord& asking;
  const placement::QuotaDemand& demand;               ///< of the job, or of one trial of it
  std::string_view engine = placement::kLocalEngine;  ///< that it asks, as quotas name it
  const ProjectBytes* bytes = nullptr;                ///< null: not counted
  std::vector<const v1::JobRecord*> unfinished{};     ///< jobs of all projects; no trials
};

/// By the quota of accelerators by type. Counts every job that may still use what it was given; a tuning job
/// for all trials that may run at once. Errors as jobs::CheckAcceleratorQuota. Pure.
[[nodiscard]] Status CheckAccelerators(const jobs::AcceleratorCounts& quota, const JobQuotaCase& job);

/// Whether the job may be created by the quotas of its project and its creator: kResourceExhausted, with the
/// subject in `violations`, if they have their number of unfinished jobs, keep more bytes than they may, or
/// the job asks for more than it could ever hold. (What it could hold later it waits for:
/// rules/placement/quota_gate.h.) Words as the original's quota errors: spec api.md section 8. Pure.
[[nodiscard]] Status CheckJobQuotas(const placement::Quotas& quotas, const JobQuotaCase& job);

}  // namespace trainyard::control
