#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

/// Which accounts of this machine are answered. Pure: any thread.
namespace trainyard::access {

/// Uids FIRST to FIRST + COUNT - 1.
struct UidRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  [[nodiscard]] bool Has(std::uint32_t uid) const noexcept { return uid >= first && uid - first < count; }
  friend bool operator==(const UidRange&, const UidRange&) = default;
};

struct Accounts {
  std::uint32_t own_uid = 0;         ///< that runs the server
  std::string own_name;              ///< as people know it; empty: the number says enough
  bool local_users = false;          ///< --allow-local-users: whoever is on this machine
  std::optional<UidRange> job_uids;  ///< those that jobs run as; only where replicas ask
};

/// Whether the account always may: the server's own, root, or one of the jobs'.
[[nodiscard]] bool IsAnswered(std::uint32_t uid, const Accounts& accounts) noexcept;

/// Says who is answered, who asked, and the ways out. `uid`: nothing where the kernel did not say.
[[nodiscard]] Error AccountRefusal(std::optional<std::uint32_t> uid, const Accounts& accounts);

}  // namespace trainyard::access
