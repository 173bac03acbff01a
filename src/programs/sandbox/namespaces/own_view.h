#pragma once

#include <string>

#include "base/result.h"
#include "programs/sandbox/namespaces/file_view.h"

namespace trainyard::replica {

/// The namespaces of a process that has entered a private view.
enum class OwnView {
  kMounts,         ///< a mount namespace: it was root
  kUserNamespace,  ///< the same in a user namespace; it keeps its ids, and has all rights until its exec
};

/// Gives the calling process, which must have one thread, the view and `hosts` as the text of /etc/hosts, in
/// a private mount namespace: nothing of it is visible outside, and nothing is left when its processes have
/// ended. Terminal, descriptors, ids and directory do not change. kFailedPrecondition: the kernel rejects it;
/// the message names the setting to change. After an error the process must exit.
[[nodiscard]] Result<OwnView> EnterOwnView(const FileView& view, const std::string& hosts);

}  // namespace trainyard::replica
