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

// The sizes of built environments. Walking one takes a second and it never changes, so its size is recorded
// next to it (Layout::SizeNote) when it is built, or when an older one is first measured. Blocking; any
// thread.

/// The size on the disk; hard links inside are counted once. Walks the directory.
[[nodiscard]] std::uint64_t BytesBelow(const std::filesystem::path& folder);

/// The size of a complete directory (Layout::Marker), from its note. If there is no note of this very build,
/// which names the marker's device, inode and time, it walks the directory and writes one; if it cannot write
/// it (another user's directory, a full disk), the next call walks again.
[[nodiscard]] std::uint64_t SizeOf(const std::filesystem::path& folder);
/// The same for a directory whose files change only before the marker, which is elsewhere, is touched.
[[nodiscard]] std::uint64_t SizeSince(const std::filesystem::path& marker,
                                      const std::filesystem::path& folder);

/// Whether the directory has its marker and its interpreter still exists (the Python that it was made with
/// may have been removed from the machine). Two stat calls.
[[nodiscard]] bool IsComplete(const std::filesystem::path& folder);

/// Builds a runtime or layer exactly once, even if several processes need it: takes the lock, checks again,
/// removes files of a killed builder, builds, makes the result durable and only then writes the marker. A
/// failed build leaves nothing behind.
///
/// @param waiting  called once if another process is building it
/// @param build    fills the folder, which exists and is empty; returns the Python version for the marker
[[nodiscard]] Status BuildOnce(const std::filesystem::path& folder, const std::function<void()>& waiting,
                               const std::function<Result<std::string>(const BuildLock& lock)>& build,
                               const std::stop_token& stop);

}  // namespace trainyard::environment
