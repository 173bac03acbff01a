#pragma once

#include <filesystem>
#include <string_view>

#include "rules/slurm/job_name.h"

/// Parts of the engine of Slurm, each alone.
namespace trainyard::bench {

inline constexpr std::string_view kInstallation = "1f3a90c2";

[[nodiscard]] inline slurm::Submission FirstOf(int uid) {
  return {.gang = {.job_uid = uid, .try_number = 1}, .number = 1};
}

/// slurm::Gangs with so many gangs, without Slurm, database or loop.
void MeasureDecisions(int count);
/// engine::AgentSlots: what the database takes. `folder`: on a disk.
void MeasureBook(const std::filesystem::path& folder, int count);

}  // namespace trainyard::bench
