#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// Small blocking file operations. Any thread, but on the loop only for files that are small and local. Error
/// messages contain the path and the system's message; a full disk is kResourceExhausted, a missing file
/// kNotFound.

namespace trainyard {

inline constexpr std::size_t kReadFileMax = std::size_t{64} << 20;

/// open(2) with O_CLOEXEC added.
[[nodiscard]] Result<UniqueFd> OpenFile(const std::filesystem::path& path, int flags, mode_t mode = 0644);

/// The contents of the whole file; kOutOfRange if it is larger than `bytes_max`.
[[nodiscard]] Result<std::string> ReadFile(const std::filesystem::path& path,
                                           std::size_t bytes_max = kReadFileMax);

/// Writes all bytes, with as many calls of write(2) as needed.
[[nodiscard]] Status WriteAll(int descriptor, std::string_view bytes);

/// Replaces the file atomically and durably: after a crash at any point it has either the old or the new
/// contents, and after success the new ones. Writes a temporary file in the same directory, calls fsync,
/// renames it, and calls fsync for the directory. Leaves no temporary file on error.
[[nodiscard]] Status WriteFileAtomically(const std::filesystem::path& path, std::string_view contents,
                                         mode_t mode = 0644);

/// Like WriteFileAtomically, without fsync: readers see the old or the new contents, but after a loss of
/// power the file may be empty. For files that can be created again.
[[nodiscard]] Status ReplaceFile(const std::filesystem::path& path, std::string_view contents,
                                 mode_t mode = 0644);

/// The path with symbolic links resolved, as mounts need it; `path` itself if there is no such file.
[[nodiscard]] std::string RealPath(const std::string& path);

/// The folder of a path: the part before its last slash. The path has one. Pure.
[[nodiscard]] inline std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// The kernel's boot id, without a newline; it changes at every boot. Empty: it cannot be read.
[[nodiscard]] const std::string& BootId();

/// mkdir -p: makes a directory and its missing parents, with `mode` minus the umask. Existing directories are
/// not changed.
[[nodiscard]] Status MakeFolders(const std::filesystem::path& path, mode_t mode = 0777);

/// Like MakeFolders with mode 0700; an existing directory also gets this mode.
[[nodiscard]] Status MakePrivateFolder(const std::filesystem::path& path);

/// The paths of a directory's entries, in no order; none if it does not exist. Errors: it cannot be read.
[[nodiscard]] Result<std::vector<std::filesystem::path>> EntriesOf(const std::filesystem::path& directory);
/// As EntriesOf; of a directory that cannot be read, what was read of it.
[[nodiscard]] std::vector<std::filesystem::path> PathsIn(const std::filesystem::path& directory);

/// fsync of a directory: makes the names in it durable.
[[nodiscard]] Status SyncDirectory(const std::filesystem::path& path);

/// Between fork and exec, a child has its parent's descriptors and so its locks, even if the parent was
/// killed meanwhile. A lock that becomes free within this time had no real owner.
inline constexpr std::chrono::milliseconds kForkWindowMax{2'000};

/// Takes an exclusive flock(2) on an open file. Blocks for at most `wait_max`. False: another process kept
/// the lock for that time.
[[nodiscard]] Result<bool> TakeLock(int descriptor, std::chrono::milliseconds wait_max = kForkWindowMax);

}  // namespace trainyard
