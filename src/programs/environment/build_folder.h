#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "programs/environment/build_lock.h"

namespace trainyard::environment {

// The sizes of built environments. To walk one takes a second and it never changes, so the size is noted
// beside it (Layout::SizeNote) when it is built, or by whoever first asks for that of an older one.
// Blocking; any thread.

/// On the disk; hard links inside are counted once. Walks the folder.
[[nodiscard]] std::uint64_t BytesBelow(const std::filesystem::path& folder);

/// The same of a complete folder (Layout::Marker) from its note. Without a note of this very build, which
/// names the marker's device, inode and time, it walks and writes one; where it may not write (another user's
/// folder, a full disk) the next call walks again.
[[nodiscard]] std::uint64_t SizeOf(const std::filesystem::path& folder);

/// Whether the folder has its marker and its interpreter still runs somewhere (the Python that it was made
/// with may have been removed from the machine). Two stat calls.
[[nodiscard]] bool IsComplete(const std::filesystem::path& folder);

/// Builds a runtime or layer exactly once, even if several processes want it: takes the lock, checks again,
/// removes what a killed builder left, builds, makes it durable and only then writes the marker. A build that
/// fails leaves nothing behind.
///
/// @param waiting  called once if another process is building it
/// @param build    fills the folder, which exists and is empty; returns the Python version for the marker
[[nodiscard]] Status BuildOnce(const std::filesystem::path& folder, const std::function<void()>& waiting,
                               const std::function<Result<std::string>(const BuildLock& lock)>& build,
                               const std::stop_token& stop);

}  // namespace trainyard::environment
