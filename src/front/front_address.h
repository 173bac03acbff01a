#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"

/// The loopback address of the front. Several servers of one machine have one each; nothing but the hosts
/// files of their replicas names it.
namespace trainyard::front {

/// A numeric address in 127.64.0.0/10, by chance.
[[nodiscard]] std::string RandomFrontAddress();

/// Finds an address for which `listen` succeeds and keeps it in `file`, so that replicas which live on find
/// the next server there: first the one that is kept, then others while they are in use (kAlreadyExists).
/// @return the address; the last error of `listen`, or of the file system. Blocking.
[[nodiscard]] Result<std::string> TakeFrontAddress(
    const std::filesystem::path& file, const std::function<Status(const std::string& address)>& listen);

}  // namespace trainyard::front
