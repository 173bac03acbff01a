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

/// Leads connections of a program elsewhere, without a network of its own: the kernel asks about each
/// connect(2) of the program and of all that it starts (seccomp_unotify(2)), and connections that a door is
/// for are made here, on the program's own socket. All others go on as if nothing were.
///
/// A convenience and no border, also where it refuses: the address that was read may be another by the time
/// that the kernel reads it, and then the connection is the one that the program asked for, which it may have
/// anyway.
///
///     asking process: Install, then exec        answering process: Receive, then AddTo, poll, Serve for ever
///
/// The answering process made the asking one by fork, and may trace it: the same user, or CAP_SYS_PTRACE in
/// its user namespace. One thread. Without doors and refusals nothing of it does anything. The destructor
/// lets go of the kernel's questions, and what is asked then fails with ENOSYS: let the program end first.
class ConnectDoors {
 public:
  /// Whether a connection to this address (a sockaddr, or nothing where it cannot be read) is not to be made:
  /// EACCES. Sockets of datagrams go on.
  using Refusal = std::function<bool(std::span<const std::byte> address)>;
  /// Before the fork, and where /proc has the numbers of the process that will answer.
  explicit ConnectDoors(std::vector<ConnectDoor> doors, Refusal refuses = nullptr);

  /// In the asking process: from here on it and its children are asked about. Needs no_new_privs or
  /// CAP_SYS_ADMIN. What goes wrong is for Receive to say.
  void Install() noexcept;

  /// In the answering process: waits until the other has been through Install, or is gone. 0, or the errno
  /// for which there are no doors.
  [[nodiscard]] int Receive() noexcept;

  /// Adds what is waited for.
  void AddTo(std::vector<pollfd>& waiting) const;
  /// Answers what can be answered, without waiting. `waiting`: after poll(2), with what AddTo added last.
  void Serve(const std::vector<pollfd>& waiting);

 private:
  /// A connection of a blocking socket that is being made.
  struct Pending {
    std::uint64_t question;
    pid_t thread;
    UniqueFd socket;
    int flags;  ///< of the socket, to be set again
  };
  /// A connection that was made, of which the thread does not know: a signal came in between, and it asks
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
