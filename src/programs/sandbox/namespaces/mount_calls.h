#pragma once

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/async/unique_fd.h"

/// The system calls of detached mounts, by number: glibc has functions for them only since 2.36, and a
/// program that names those does not start on Ubuntu 22.04 (2.35). Each sets errno. Any thread; nothing is
/// allocated, so that a child between fork and exec may call them. Source: open_tree(2), move_mount(2),
/// mount_setattr(2).
namespace trainyard::replica {

/// Clones the mount at the path with all mounts below it, detached from the tree; the result is empty on
/// failure.
inline UniqueFd CloneMount(const char* path) {
  return UniqueFd(static_cast<int>(
      ::syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)));
}

/// The same without the mounts below it.
inline UniqueFd CloneMountAlone(const char* path) {
  return UniqueFd(
      static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)));
}

/// Attaches the result of CloneMount() at the path. 0, or -1.
inline int AttachMount(int tree, const char* path) {
  return static_cast<int>(::syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH));
}

/// Changes the attributes of a detached mount and of all mounts below it. 0, or -1.
inline int ChangeMounts(int tree, const mount_attr& attributes) {
  return static_cast<int>(
      ::syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes));
}

/// Changes the attributes of the mount at the path alone. 0, or -1.
inline int ChangeMount(const char* path, const mount_attr& attributes) {
  return static_cast<int>(::syscall(SYS_mount_setattr, AT_FDCWD, path, 0, &attributes, sizeof attributes));
}

}  // namespace trainyard::replica
