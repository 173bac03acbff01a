#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

/// Which accounts of this machine may send requests. Pure: any thread.
namespace trainyard::access {

/// The uids from `first` to `first + count - 1`.
struct UidRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  [[nodiscard]] bool Has(std::uint32_t uid) const noexcept { return uid >= first && uid - first < count; }
  friend bool operator==(const UidRange&, const UidRange&) = default;
};

struct AllowedAccounts {
  std::uint32_t own_uid = 0;         ///< uid of the account that runs the server
  std::string own_name;              ///< its name, for messages; empty: the number is shown
  bool local_users = false;          ///< --allow-local-users: accept every account of this machine
  std::optional<UidRange> job_uids;  ///< the uids that jobs run as; set only for the listeners of replicas
};

/// Whether the account is always accepted: it is the server's own, root, or one that jobs run as.
[[nodiscard]] bool IsAnswered(std::uint32_t uid, const AllowedAccounts& accounts) noexcept;

/// The error for a refused account: names the accepted accounts, the refused one, and the flags that change
/// this. `uid` is nullopt if the kernel did not tell it.
[[nodiscard]] Error AccountRefusal(std::optional<std::uint32_t> uid, const AllowedAccounts& accounts);

/// The error for a request that a proxy forwarded to a listener that accepts requests by account.
[[nodiscard]] Error ForwardedRefusal();

}  // namespace trainyard::access
