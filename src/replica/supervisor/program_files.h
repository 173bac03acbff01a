#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/async/unique_fd.h"

/// Files in directories that a user's program owns and may change at any time: links are not followed, and
/// what is no regular file is not read. Blocking; any thread. Nothing where it is not there.
namespace trainyard::replica {

[[nodiscard]] UniqueFd OpenFolder(const std::string& path);
/// Directory by directory: the program may put a link in place of any of them.
[[nodiscard]] UniqueFd OpenFolderBelow(UniqueFd folder, std::string_view path);
/// A regular file of the directory; pipes do not block.
[[nodiscard]] UniqueFd OpenBelow(int folder, const char* name);
/// How much was read; 0: nothing is there.
[[nodiscard]] std::size_t ReadAt(int file, std::uint64_t offset, std::span<char> buffer);

}  // namespace trainyard::replica
