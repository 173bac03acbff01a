#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"

/// The loopback address of the front. Each server of a machine has its own; only the hosts files of its
/// replicas name it.
namespace trainyard::front {

/// A random numeric address in 127.64.0.0/10.
[[nodiscard]] std::string RandomFrontAddress();

/// Finds an address for which `listen` succeeds and keeps it in `file`, so that replicas that
/// outlive the server find the next one there. Tries the kept address first, then random ones while they are
/// in use (kAlreadyExists).
/// @return the address; the last error of `listen`, or of the file system. Blocking.
[[nodiscard]] Result<std::string> TakeFrontAddress(
    const std::filesystem::path& file, const std::function<Status(const std::string& address)>& listen);

}  // namespace trainyard::front
