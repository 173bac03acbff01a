#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "programs/sandbox/namespaces/file_view.h"

namespace trainyard::replica {

/// The file system of a program that builds packages: the system's programs and libraries, a few of its
/// settings, and what is named here. All is read-only but `writable` and /tmp. Not there: homes, the data
/// directory, sockets below /run and /var, passwords and keys of the machine.
struct BuildRoot {
  std::string mount_point;             ///< an empty folder
  std::string tmp;                     ///< becomes /tmp
  std::vector<std::string> read_only;  ///< files and directories, seen at their paths; links stay links
  std::vector<std::string> writable;   ///< folders
  std::vector<std::string> hidden;     ///< folders of which nothing is seen but what is named here
  uid_t uid = 0;                       ///< who the program is
  gid_t gid = 0;
  bool proc = false;  ///< /proc as it is by now; else there is none
};

/// Makes it the root of the calling process, which must be in a mount namespace of its own in which no mount
/// is shared (SetUpFileView). Stops at the first step that the kernel refuses.
[[nodiscard]] std::optional<ViewFailure> EnterBuildRoot(const BuildRoot& root);

}  // namespace trainyard::replica
