#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "programs/sandbox/namespaces/file_view.h"

namespace trainyard::replica {

/// The file system of a program that builds packages: the system's programs and libraries, a few of its
/// settings, and the paths that are named here. Everything is read-only except `writable` and /tmp. It does
/// not contain homes, the data directory, sockets below /run and /var, or the machine's passwords and keys.
struct BuildRoot {
  std::string mount_point;             ///< an empty directory
  std::string tmp;                     ///< becomes /tmp
  std::vector<std::string> read_only;  ///< files and directories, seen at their paths; links stay links
  std::vector<std::string> writable;   ///< folders
  std::vector<std::string> hidden;     ///< directories of which only paths named here are visible
  uid_t uid = 0;                       ///< the program's user
  gid_t gid = 0;
  bool proc = false;  ///< includes the current /proc; otherwise there is none
};

/// Makes it the root of the calling process, which must be in a private mount namespace in which no mount is
/// shared (SetUpFileView). Stops at the first step that the kernel rejects.
[[nodiscard]] std::optional<ViewFailure> EnterBuildRoot(const BuildRoot& root);

}  // namespace trainyard::replica
