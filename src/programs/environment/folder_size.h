#pragma once

#include <cstdint>
#include <filesystem>

/// The sizes of built environments. To walk one takes a second and it never changes, so the size is noted
/// beside it (Layout::SizeNote) when it is built, or by whoever first asks for that of an older one.
/// Blocking; any thread.
namespace trainyard::environment {

/// On the disk; hard links inside are counted once. Walks the folder.
[[nodiscard]] std::uint64_t BytesBelow(const std::filesystem::path& folder);

/// The same of a complete folder (Layout::Marker) from its note. Without a note of this very build, which
/// names the marker's device, inode and time, it walks and writes one; where it may not write (another user's
/// folder, a full disk) the next call walks again.
[[nodiscard]] std::uint64_t SizeOf(const std::filesystem::path& folder);

}  // namespace trainyard::environment
