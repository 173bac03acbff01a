#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>

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

}  // namespace trainyard
