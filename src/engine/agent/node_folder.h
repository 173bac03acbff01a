#pragma once

#include <string>
#include <string_view>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::agent {

/// The files that agents of this account keep on one node: DIR/nodes/NODE. Several nodes may share the disk,
/// so the node's name is in the path.
///
///     environments/  images/         of all agents of the account on the node
///     slots/HASH-SLOT/               of one agent; HASH: of its ticket
///         attempts/  run/  front/  agent.log  lock
///
/// An agent's first process and the processes that it forks hold the lock. While it is held, no other process
/// uses or removes the slot's directory.
class NodeFolder {
 public:
  struct Slot {
    std::string dir;  ///< DIR of the arguments
    std::string node;
    std::string ticket;
    int slot = 0;
  };
  /// Creates missing directories, accessible to their owner only, and takes the lock. kAlreadyExists: another
  /// agent of the slot lives on this node; kFailedPrecondition: DIR belongs to another account or is a
  /// symbolic link, which another account may have made; errors of the file system. Blocking.
  [[nodiscard]] static Result<NodeFolder> Open(const Slot& slot);

  /// Removes directories of slots whose agents and attempts have ended. If one cannot be removed, it stays
  /// and a message says so. Blocking.
  void RemoveOldSlots() const;

  [[nodiscard]] std::string environments_dir() const { return node_ + "/environments"; }
  [[nodiscard]] std::string images_dir() const { return node_ + "/images"; }
  [[nodiscard]] std::string attempts_dir() const { return slot_ + "/attempts"; }
  [[nodiscard]] std::string run_dir() const { return slot_ + "/run"; }
  /// Files about Google's front for replicas to read.
  [[nodiscard]] std::string front_dir() const { return slot_ + "/front"; }
  [[nodiscard]] std::string log() const { return slot_ + "/agent.log"; }

 private:
  NodeFolder(std::string node, std::string slot, UniqueFd lock)
      : node_(std::move(node)), slot_(std::move(slot)), lock_(std::move(lock)) {}

  std::string node_;
  std::string slot_;
  UniqueFd lock_;
};

/// "0123456789abcdef-3": the name of a slot's directory. Pure.
[[nodiscard]] std::string SlotFolderName(std::string_view ticket, int slot);

}  // namespace trainyard::agent
