#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/unique_fd.h"
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

// A package's program without an account of the machine runs as root in a user namespace, if a root server
// gives its jobs separate ids (docs/adr/0025-job-users.md). The functions below need root.

/// Makes a user namespace whose ids 0 to count - 1 are the machine's from `first` on; no process is in it. It
/// starts a process for that, which takes 0.3 ms. Any thread. An error says which step the kernel rejected.
[[nodiscard]] Result<UniqueFd> MakeUserNamespace(const IdRange& ids);

/// Makes the calling process, which must have one thread, root in the namespace, with root's group as its
/// only one and no rights outside. Returns the step that failed, with errno; null: done. May run between fork
/// and exec.
[[nodiscard]] const char* BecomeRootIn(int user_namespace);

/// Maps the ids of a detached mount and of those below it to the namespace: files that belong to root on the
/// disk belong to root in the namespace, and vice versa. 0 or errno; EINVAL: the file system cannot do that.
[[nodiscard]] int MapMount(int tree, int user_namespace, unsigned long long attributes_set);

/// Whether files of the directory can be mapped to such ids: tries it, and changes nothing.
/// kFailedPrecondition, with the step and the directory.
[[nodiscard]] Status CheckMappedMounts(const IdRange& ids, const std::string& folder);

/// The outermost directory at or above the path that only its owner can enter; the path itself if there is
/// none.
[[nodiscard]] std::string OutermostClosedFolder(const std::string& path);

}  // namespace trainyard::replica
