#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

/// Which accounts of this machine are answered. Pure: any thread.
namespace trainyard::access {

/// The uids from `first` to `first + count - 1`.
struct UidRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  [[nodiscard]] bool Has(std::uint32_t uid) const noexcept { return uid >= first && uid - first < count; }
  friend bool operator==(const UidRange&, const UidRange&) = default;
};

struct AllowedAccounts {
  std::uint32_t own_uid = 0;         ///< of the account that runs the server
  std::string own_name;              ///< its name, for messages; empty: the number is shown
  bool local_users = false;          ///< --allow-local-users: every account of this machine is answered
  std::optional<UidRange> job_uids;  ///< the uids that jobs run as; set only where replicas ask
};

/// Whether the account is always answered: the server's own, root, or one of the jobs'.
[[nodiscard]] bool IsAnswered(std::uint32_t uid, const AllowedAccounts& accounts) noexcept;

/// The refusal: names who is answered, who asked, and the flags that change it. `uid`: nothing if the kernel
/// did not tell.
[[nodiscard]] Error AccountRefusal(std::optional<std::uint32_t> uid, const AllowedAccounts& accounts);

/// The refusal of what a proxy passed on where accounts decide.
[[nodiscard]] Error ForwardedRefusal();

}  // namespace trainyard::access
