#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// Small blocking file operations. Any thread, but on the loop only for files that are small and local.
/// Errors carry the path and the system's words; a full disk is kResourceExhausted, a missing file kNotFound.

namespace trainyard {

inline constexpr std::size_t kReadFileMax = std::size_t{64} << 20;

/// open(2) with O_CLOEXEC added.
[[nodiscard]] Result<UniqueFd> OpenFile(const std::filesystem::path& path, int flags, mode_t mode = 0644);

/// The contents of the whole file; kOutOfRange if it is larger than `bytes_max`.
[[nodiscard]] Result<std::string> ReadFile(const std::filesystem::path& path,
                                           std::size_t bytes_max = kReadFileMax);

/// Writes all of it, in as many calls as it takes.
[[nodiscard]] Status WriteAll(int descriptor, std::string_view bytes);

/// Replaces the file so that after a crash at any point it holds either the old or the new contents, and
/// after success the new ones: temporary file beside it, fsync, rename, fsync of the folder. Leaves no
/// temporary file on error.
[[nodiscard]] Status WriteFileAtomically(const std::filesystem::path& path, std::string_view contents,
                                         mode_t mode = 0644);

/// The same without fsync: whoever reads sees the old or the new contents, but after a loss of power the file
/// may be empty. For what is made again then.
[[nodiscard]] Status ReplaceFile(const std::filesystem::path& path, std::string_view contents,
                                 mode_t mode = 0644);

/// The path without links, as mounts need it; the path itself if there is no such file.
[[nodiscard]] std::string RealPath(const std::string& path);

/// The kernel's name of this start of the machine, without a newline. Empty: it cannot be read.
[[nodiscard]] const std::string& BootId();

/// mkdir -p: makes a directory and what is missing above it, with `mode` less the umask. Directories that are
/// there stay as they are.
[[nodiscard]] Status MakeFolders(const std::filesystem::path& path, mode_t mode = 0777);

/// The same with mode 0700; a directory that is there becomes its owner's alone.
[[nodiscard]] Status MakePrivateFolder(const std::filesystem::path& path);

/// fsync of a folder: makes the names in it durable.
[[nodiscard]] Status SyncDirectory(const std::filesystem::path& path);

/// Between a fork and its exec, a child has its parent's descriptors, and with them its locks, even if the
/// parent was killed meanwhile: a lock that is free again within this time was nobody's.
inline constexpr std::chrono::milliseconds kForkWindowMax{2'000};

/// flock(2), exclusive, of an open file. Blocks for `wait_max` at most. False: somebody has it all the time.
[[nodiscard]] Result<bool> TakeLock(int descriptor, std::chrono::milliseconds wait_max = kForkWindowMax);

}  // namespace trainyard
