#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"

/// The loopback address of the front, and its ports. Each server of a machine has its own; only the hosts
/// files of its replicas name it.
namespace trainyard::front {

/// A random numeric address in 127.64.0.0/10.
[[nodiscard]] std::string RandomFrontAddress();

/// Finds an address for which `listen` succeeds and keeps it in `file`, so that replicas that
/// outlive the server find the next one there. Tries the kept address first, then random ones while they are
/// in use (kAlreadyExists).
/// @return the address; the last error of `listen`, or of the file system. Blocking.
[[nodiscard]] Result<std::string> TakeFrontAddress(
    const std::filesystem::path& file, const std::function<Status(const std::string& address)>& listen);

/// Where the front listens when 443 and 80 are not to be had: below the ports that the kernel gives out.
struct FrontPorts {
  std::uint16_t tls = 0;
  std::uint16_t plain = 0;
  friend bool operator==(const FrontPorts&, const FrontPorts&) = default;
};

/// Two random ports.
[[nodiscard]] FrontPorts RandomFrontPorts();

/// The ports in `file`: replicas that outlive the server know them. Where there are none yet, random ones,
/// which are kept there. Errors: the file system's. Blocking.
[[nodiscard]] Result<FrontPorts> TakeFrontPorts(const std::filesystem::path& file);
[[nodiscard]] Status KeepFrontPorts(const std::filesystem::path& file, const FrontPorts& ports);

}  // namespace trainyard::front
