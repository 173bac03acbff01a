#pragma once

#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/sandbox/namespaces/id_map.h"

/// A package's program without an account of the machine: root in a user namespace, where a root server gives
/// its jobs ids of their own (docs/adr/0025-job-users.md). All of it needs root.
namespace trainyard::replica {

/// A user namespace whose ids 0 to count - 1 are the machine's from `first` on; nobody is in it. Takes a
/// process's time, 0.3 ms. Any thread. An error says which step the kernel refuses.
[[nodiscard]] Result<UniqueFd> MakeUserNamespace(const IdRange& ids);

/// The calling process, which must have one thread, becomes root in the namespace, in no group beside root's,
/// and keeps no right outside of it. The step that failed, with errno; null: done. May run between fork and
/// exec.
[[nodiscard]] const char* BecomeRootIn(int user_namespace);

/// Gives a mount that is not in the tree yet, and those below it, the namespace's ids: what belongs to root
/// on the disk belongs to root in there, and the other way round. 0 or errno; EINVAL: the file system cannot.
[[nodiscard]] int MapMount(int tree, int user_namespace, unsigned long long attributes_set);

/// Whether files of the directory can be shown with such ids: tries it, and changes nothing.
/// kFailedPrecondition, with the step and the directory.
[[nodiscard]] Status CheckMappedMounts(const IdRange& ids, const std::string& folder);

/// The outermost directory at or above the path that others than its owner cannot enter; the path itself if
/// there is none.
[[nodiscard]] std::string OutermostClosedFolder(const std::string& path);

}  // namespace trainyard::replica
