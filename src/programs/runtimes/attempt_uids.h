#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace trainyard::replica {

/// The accounts of all processes of the attempts that live in this directory, as this process sees them: a
/// container's program may be another user than the server. Reads /proc once, and asks the daemon for the
/// containers that it runs; blocking: call it on a pool's thread. What cannot be read is left out.
[[nodiscard]] std::set<std::uint32_t> FindAttemptUids(const std::string& attempts_dir);

}  // namespace trainyard::replica
