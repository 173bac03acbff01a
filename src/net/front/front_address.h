#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"

/// The loopback address and ports of the front. Each server of a machine has its own front address; only the
/// hosts files of its replicas contain it.
namespace trainyard::front {

/// A random numeric address in 127.64.0.0/10.
[[nodiscard]] std::string RandomFrontAddress();

/// Finds an address for which `listen` succeeds and keeps it in `file`, so that replicas that outlive the
/// server find the next server there. Tries the kept address first, then random ones while they are in use
/// (kAlreadyExists).
/// @return the address; the last error of `listen`, or of the file system. Blocking.
[[nodiscard]] Result<std::string> TakeFrontAddress(
    const std::filesystem::path& file, const std::function<Status(const std::string& address)>& listen);

/// The front's ports if 443 and 80 are not available; they are below the kernel's ephemeral ports.
struct FrontPorts {
  std::uint16_t tls = 0;
  std::uint16_t plain = 0;
  friend bool operator==(const FrontPorts&, const FrontPorts&) = default;
};

/// Two random ports.
[[nodiscard]] FrontPorts RandomFrontPorts();

/// Reads the ports from `file`, because replicas that outlive the server know them. If there are none yet,
/// chooses random ones and writes them there. Errors: the file system's. Blocking.
[[nodiscard]] Result<FrontPorts> TakeFrontPorts(const std::filesystem::path& file);
[[nodiscard]] Status KeepFrontPorts(const std::filesystem::path& file, const FrontPorts& ports);

}  // namespace trainyard::front
