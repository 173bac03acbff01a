#pragma once

#include <string>

#include "base/result.h"

/// A directory that all jobs share, and that one replica may change for itself alone (overlayfs).
/// docs/adr/0091-packages-that-can-be-written.md.
namespace trainyard::replica {

/// Paths are absolute.
struct WritableFolder {
  std::string folder;   ///< as the view has it
  std::string changes;  ///< on a disk; holds what the replica writes and removes. The view must show it

  [[nodiscard]] std::string Upper() const { return changes + "/upper"; }
  [[nodiscard]] std::string Work() const { return changes + "/work"; }
};

/// Makes the directories for the changes.
[[nodiscard]] Status MakeChangeFolders(const WritableFolder& writable);

/// Mounts the directory with its changes over itself, and removes `changes` from the view. The calling
/// process must be in a mount namespace of its own. 0 or errno: the file system of `changes` cannot do it (an
/// overlay itself, NFS), a kernel before 5.10, or 5.11 in a user namespace, one before 5.19 with the ids of a
/// job's users, or a path with a character that separates options.
[[nodiscard]] int MakeWritable(const WritableFolder& writable, bool in_user_namespace);

}  // namespace trainyard::replica
