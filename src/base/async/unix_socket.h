#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard {

/// The address of a socket's file. A path that is too long for sun_path (108 bytes) is reached through a
/// descriptor of its directory, which must stay open while the address is used.
struct UnixAddress {
  UniqueFd directory;
  sockaddr_un address{};

  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&address); }

  /// kInvalidArgument: the file's own name is too long.
  [[nodiscard]] static Result<UnixAddress> Make(const std::filesystem::path& path);
};

/// Connects to a Unix socket, whatever the length of its path. Blocks for as long as its listener's queue is
/// full, unless `flags` has SOCK_NONBLOCK; any thread. kNotFound: there is no such file; kPermissionDenied;
/// kUnavailable: nobody listens there (now).
[[nodiscard]] Result<UniqueFd> ConnectUnix(const std::filesystem::path& path, int flags = 0);

// A message with a descriptor over a Unix socket that keeps messages apart (SOCK_SEQPACKET). Blocking; any
// thread; nothing is allocated, so that a child between fork and exec may call them. Source: unix(7),
// cmsg(3).

/// The whole message, with a copy of the descriptor; -1: none. False with errno: it was not sent.
bool SendWithDescriptor(int socket, std::span<const std::byte> message, int descriptor);

/// How much came of a message; 0: the other side is gone; -1 with errno. `descriptor`: what came with it,
/// closed on exec; empty: nothing did.
[[nodiscard]] std::ptrdiff_t ReceiveWithDescriptor(int socket, std::span<std::byte> message,
                                                   UniqueFd& descriptor);

}  // namespace trainyard
