#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/async/unique_fd.h"
#include "programs/sandbox/network/connect_door.h"

struct seccomp_notif;

namespace trainyard::replica {

/// Redirects connections of a program without a separate network: the kernel asks about each connect(2) of
/// the program and its descendants (seccomp_unotify(2)), and connections to which a door applies are made
/// here, on the program's own socket. All others proceed normally.
///
/// This is a convenience, not a security boundary, not even for refused connections: the program may change
/// the address between our reading it and the kernel's. Then it gets the connection to that address, which it
/// could have made anyway.
///
///     asking process: Install, then exec        answering process: Receive, then AddTo, poll, Serve for ever
///
/// The answering process must have forked the asking one, and must be allowed to trace it: it has the same
/// user, or CAP_SYS_PTRACE in the other's user namespace. One thread. Without doors and refusals all
/// functions do nothing. The destructor closes the kernel's listener; connect(2) then fails with ENOSYS, so
/// let the program end first.
class ConnectDoors {
 public:
  /// Whether a connection to this address (a sockaddr; empty if it cannot be read) must fail with EACCES.
  /// Datagram sockets are not refused.
  using Refusal = std::function<bool(std::span<const std::byte> address)>;
  /// Call it before the fork, with a /proc of the PID namespace of the process that will answer.
  explicit ConnectDoors(std::vector<ConnectDoor> doors, Refusal refuses = nullptr);

  /// For an asking process that does what Install does by itself: the socket to which it sends the listener;
  /// -1: there are no doors.
  [[nodiscard]] int asker() const noexcept { return theirs_.get(); }

  /// In the asking process: installs the filter for it and its descendants. Needs no_new_privs or
  /// CAP_SYS_ADMIN. Receive reports errors.
  void Install() noexcept;

  /// In the answering process: waits until the other process has run Install, or is gone. 0, or the errno if
  /// there are no doors.
  [[nodiscard]] int Receive() noexcept;

  /// Adds the descriptors to wait for.
  void AddTo(std::vector<pollfd>& waiting) const;
  /// Answers the questions that can be answered without waiting. `waiting`: after poll(2), with the entries
  /// that AddTo added last.
  void Serve(const std::vector<pollfd>& waiting);

 private:
  /// A connection of a blocking socket that is under way.
  struct Pending {
    std::uint64_t question;
    pid_t thread;
    UniqueFd socket;
    int flags;  ///< of the socket, to be restored
  };
  /// A connection that was made although its thread does not know: a signal interrupted it, so it will ask
  /// again.
  struct Untold {
    pid_t thread;
    ino_t socket;
  };

  [[nodiscard]] bool asks() const noexcept { return !doors_.empty() || refuses_ != nullptr; }
  [[nodiscard]] bool Refuses(const seccomp_notif& asked, int socket,
                             std::span<const std::byte> address) const;
  void TakeQuestion();
  void Decide(const seccomp_notif& asked);
  void Connect(const seccomp_notif& asked, UniqueFd socket, const std::vector<std::byte>& address);
  void Finish(Pending& made);
  void Tell(std::uint64_t question, pid_t thread, int error, int socket);

  std::vector<ConnectDoor> doors_;
  Refusal refuses_;
  UniqueFd proc_;
  UniqueFd ours_;
  UniqueFd theirs_;
  UniqueFd listener_;
  std::vector<Pending> pending_;
  std::vector<Untold> untold_;
};

}  // namespace trainyard::replica
