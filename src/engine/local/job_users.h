#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Ids of the machine for the jobs of a root server: docs/adr/0025-job-users.md. Pure: any thread.
namespace trainyard::engine {

/// Ids FIRST to FIRST + COUNT - 1, users and groups alike. Jobs get blocks of them.
struct JobUsers {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const JobUsers&) const = default;
};

/// Users and groups of one job: as many as the programs of a distribution expect.
inline constexpr std::uint32_t kJobBlockIds = 65'536;
/// Jobs have to be this far apart to share a block.
inline constexpr std::uint32_t kJobBlocksMin = 256;

/// "1900000000-1999999999", both inclusive. kInvalidArgument: not of that form, ids of people and services of
/// the machine, or too few.
[[nodiscard]] Result<JobUsers> ParseJobUsers(std::string_view text);

/// The block of the job with that number (its store's row): jobs in a row have different ones. Further jobs
/// begin again at the first: then two that live at once may share ids, and only namespaces keep them apart.
[[nodiscard]] replica::v1::IdBlock BlockOf(const JobUsers& users, std::int64_t job_uid);

}  // namespace trainyard::engine
