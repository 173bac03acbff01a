#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard {

/// The address of a socket file. If the path is too long for sun_path (108 bytes), the address uses a
/// descriptor of its directory, which must stay open while the address is used.
struct UnixAddress {
  UniqueFd directory;
  sockaddr_un address{};

  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&address); }

  /// kInvalidArgument: the file's own name is too long.
  [[nodiscard]] static Result<UnixAddress> Make(const std::filesystem::path& path);
};

/// Connects to a Unix socket, whatever the length of its path. Blocks while the listener's queue is full,
/// unless `flags` has SOCK_NONBLOCK; any thread. kNotFound: there is no such file; kPermissionDenied;
/// kUnavailable: no process listens there (now).
[[nodiscard]] Result<UniqueFd> ConnectUnix(const std::filesystem::path& path, int flags = 0);

// Messages with a descriptor over a Unix socket that preserves message boundaries (SOCK_SEQPACKET). Blocking;
// any thread. These functions allocate nothing, so a child may call them between fork and exec. Source:
// unix(7), cmsg(3).

/// Sends the whole message with a copy of the descriptor (-1: none). False, with errno set: it was not sent.
bool SendWithDescriptor(int socket, std::span<const std::byte> message, int descriptor);

/// Receives a message and returns its size; 0: the other side is gone; -1, with errno set: an error.
/// `descriptor` becomes the descriptor that came with it (close-on-exec), or empty.
[[nodiscard]] std::ptrdiff_t ReceiveWithDescriptor(int socket, std::span<std::byte> message,
                                                   UniqueFd& descriptor);

}  // namespace trainyard
