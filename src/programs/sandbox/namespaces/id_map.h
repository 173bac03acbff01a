#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

/// Maps the ids of user namespaces in which this process's user is root.
namespace trainyard::replica {

/// Subordinate ids: ids that a user may use in addition to their own.
struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const IdRange&) const = default;
};

/// The user's range in the text of /etc/subuid or /etc/subgid, which lists users by name or number. Pure: any
/// thread. Source: subuid(5).
[[nodiscard]] std::optional<IdRange> FindSubordinateIds(std::string_view text, std::string_view user_name,
                                                        uid_t uid);

/// Whether our user namespaces can have more users than root: this process is root, or /etc/subuid and
/// /etc/subgid grant it ids and newuidmap is installed to map them.
[[nodiscard]] bool HasFurtherIds();

/// Maps the ids of a child in a new user namespace: root there is our user; other ids are mapped to our
/// subordinate ids, if there are any. Blocks for as long as newuidmap(1) takes, a few ms.
[[nodiscard]] Status MapRoot(pid_t child);

/// The map text that maps all ids of our user namespace to the same ids in a child namespace; `own`: the text
/// of our /proc/self/uid_map or gid_map. Pure: any thread. Source: user_namespaces(7).
[[nodiscard]] std::string SameIds(const std::string& own);

/// Maps all of our ids to the same ids for a process in a new child user namespace. Needs CAP_SETUID and
/// CAP_SETGID in ours.
[[nodiscard]] Status MapSameIds(pid_t process);

}  // namespace trainyard::replica
