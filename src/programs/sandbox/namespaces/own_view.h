#pragma once

#include <string>

#include "base/result.h"
#include "programs/sandbox/namespaces/file_view.h"

namespace trainyard::replica {

/// Where a process is that has entered a view of its own.
enum class OwnView {
  kMounts,         ///< a mount namespace: it was root
  kUserNamespace,  ///< a user namespace around it, in which it is who it was, with all rights until its exec
};

/// Gives the calling process, which must have one thread, the view and `hosts` as the text of /etc/hosts, in
/// a mount namespace of its own: nothing of it is seen outside, and nothing of it is left when its processes
/// have ended. Terminal, descriptors, ids and directory stay as they are. kFailedPrecondition: the kernel
/// refuses it, with the setting to change; the process is of no use then.
[[nodiscard]] Result<OwnView> EnterOwnView(const FileView& view, const std::string& hosts);

}  // namespace trainyard::replica
