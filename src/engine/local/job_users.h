#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

/// User ids for the jobs of a root server: docs/adr/0025-job-users.md. Pure: any thread.
namespace trainyard::engine {

/// Ids FIRST to FIRST + COUNT - 1, users and groups alike. Jobs get blocks of them.
struct JobUsers {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const JobUsers&) const = default;
};

/// The number of users and groups of one job: as many as the programs of a distribution expect.
inline constexpr std::uint32_t kJobBlockIds = 65'536;
/// The smallest number of blocks: only jobs whose numbers are this far apart may share a block.
inline constexpr std::uint32_t kJobBlocksMin = 256;

/// "1900000000-1999999999", both inclusive. kInvalidArgument: not of that form, the range includes ids of the
/// machine's users and services, or it is too small.
[[nodiscard]] Result<JobUsers> ParseJobUsers(std::string_view text);

/// The block of the job with that number (its row in the store): consecutive jobs have different blocks.
/// After the last block numbering begins again at the first: then two living jobs may share ids, and only
/// namespaces separate them.
[[nodiscard]] replica::v1::IdBlock BlockOf(const JobUsers& users, std::int64_t job_uid);

}  // namespace trainyard::engine
