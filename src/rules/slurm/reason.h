#pragma once

#include <string_view>

#include "rules/placement/wait.h"

namespace trainyard::slurm {

/// The reason of a pending job (%r) in plain words. One that is not known is shown as Slurm says it.
/// `partition`: empty: the default one. Pure: any thread. Source: docs/slurm.md, "Why jobs wait"; squeue(1),
/// "JOB REASON CODES".
[[nodiscard]] placement::Shortage MeaningOf(std::string_view reason, std::string_view partition);

}  // namespace trainyard::slurm
