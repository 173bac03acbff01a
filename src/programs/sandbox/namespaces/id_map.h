#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

/// The ids of a user namespace whose root we are.
namespace trainyard::replica {

/// Ids that a user may use beside the own one.
struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const IdRange&) const = default;
};

/// The user's range in the text of /etc/subuid or /etc/subgid, which has the user's name or number. Pure: any
/// thread. Source: subuid(5).
[[nodiscard]] std::optional<IdRange> FindSubordinateIds(std::string_view text, std::string_view user_name,
                                                        uid_t uid);

/// Whether a namespace of ours has more users than root: we are root of the machine, or /etc/subuid and
/// /etc/subgid grant ids and newuidmap is there to map them.
[[nodiscard]] bool HasFurtherIds();

/// Maps the ids of a child in a new user namespace: root is us; the further ones as far as we have them.
/// Blocks for as long as newuidmap(1) takes, a few ms.
[[nodiscard]] Status MapRoot(pid_t child);

/// What maps all ids of our user namespace to the same ones in a namespace below it; `own`: the text of our
/// /proc/self/uid_map or gid_map. Pure: any thread. Source: user_namespaces(7).
[[nodiscard]] std::string SameIds(const std::string& own);

/// Maps the ids of a process in a new user namespace below ours: all that we have, as they are. Needs
/// CAP_SETUID and CAP_SETGID in ours.
[[nodiscard]] Status MapSameIds(pid_t process);

}  // namespace trainyard::replica
