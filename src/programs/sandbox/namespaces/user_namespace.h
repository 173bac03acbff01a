#pragma once

#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/sandbox/namespaces/id_map.h"

/// Runs a package's program without an account of the machine: as root in a user namespace, if a root server
/// gives its jobs separate ids (docs/adr/0025-job-users.md). All functions need root.
namespace trainyard::replica {

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
