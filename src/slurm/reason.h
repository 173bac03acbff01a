#pragma once

#include <string_view>

#include "placement/wait.h"

namespace trainyard::slurm {

/// What a reason of Slurm means for the job that waits.
struct Meaning {
  placement::Shortage words;  ///< what it waits for, and what would end the wait
  bool never = false;         ///< it cannot start as it is
};

/// The reason of a pending job (%r) in plain words. One that is not known is shown as Slurm says it.
/// `partition`: empty: the default one. Pure: any thread. Source: docs/slurm.md, "Why jobs wait"; squeue(1),
/// "JOB REASON CODES".
[[nodiscard]] Meaning MeaningOf(std::string_view reason, std::string_view partition);

}  // namespace trainyard::slurm
