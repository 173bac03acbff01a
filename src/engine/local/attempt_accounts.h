#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/async/event.h"
#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::engine {

/// User ids for the jobs of a root server: FIRST to FIRST + COUNT - 1, users and groups alike. Each job gets
/// a block of them. docs/adr/0025-job-users.md.
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
/// namespaces separate them. Pure: any thread.
[[nodiscard]] replica::v1::IdBlock BlockOf(const JobUsers& users, std::int64_t job_uid);

/// The accounts as which living attempts run. Only asked about accounts that are not otherwise known, so most
/// servers never look. Loop thread only; /proc is read on a pool. Must outlive its callers.
class AttemptAccounts {
 public:
  /// `pool` outlives it.
  AttemptAccounts(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool,
                  std::string attempts_dir);

  /// Whether a living attempt runs as the account. A positive answer is cached for a second; otherwise it
  /// looks, at most ten times a second for all callers together. Attempts that began before the call are
  /// seen.
  boost::asio::awaitable<bool> Has(std::uint32_t uid);

 private:
  boost::asio::awaitable<void> Look();

  static constexpr std::chrono::seconds kMemory{1};
  static constexpr std::chrono::milliseconds kPause{100};

  boost::asio::any_io_executor loop_;
  boost::asio::thread_pool& pool_;
  std::string attempts_dir_;
  std::set<std::uint32_t> uids_;
  std::chrono::steady_clock::time_point looked_at_{};
  std::uint64_t begun_ = 0;  ///< looks
  std::uint64_t done_ = 0;
  bool looking_ = false;
  Event ended_;  ///< a look
};

}  // namespace trainyard::engine
