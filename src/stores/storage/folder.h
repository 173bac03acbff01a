#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "rules/objects/path_escape.h"

struct stat;

/// File operations under one bucket's directory. Every step goes through beneath.h, so nothing outside the
/// directory is ever reached; symbolic links are not followed and are not objects. Blocking; the functions
/// that change names are called by one thread only.
namespace trainyard::storage {

/// Distinguishes versions of a file's contents without reading it.
struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;  ///< since the epoch
  std::uint64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
[[nodiscard]] FileStamp StampOf(const struct stat& status) noexcept;
[[nodiscard]] Result<FileStamp> StampOf(int descriptor);

/// Opens the object's file for reading. kNotFound: there is none, or it is not a regular file.
[[nodiscard]] Result<UniqueFd> OpenObject(int bucket, const ObjectPath& path);

/// Moves a file (already synced) to its place, replacing what was there, and syncs every directory that
/// changed. Creates directories; a file that is where a directory is needed moves to its DisplacedName.
/// kFailedPrecondition: a symbolic link or special file is in the way; kResourceExhausted: the disk is full.
/// On error the file stays where it was.
[[nodiscard]] Status PlaceFile(int bucket, const ObjectPath& path, int source_folder,
                               const std::string& source_name);

/// Removes the object's file and then the directories that became empty, never the bucket. A displaced file
/// whose directory is gone gets its ordinary name back. kNotFound: there is none.
[[nodiscard]] Status RemoveFile(int bucket, const ObjectPath& path);
/// The same for many, with one sync for each directory. Returns for each whether it existed. After an error
/// some may be deleted.
[[nodiscard]] Result<std::vector<bool>> RemoveFiles(int bucket, std::span<const ObjectPath> paths);

/// Objects written by the server are readable by every replica, whatever user its program runs as: an image's
/// USER reads it through /gcs. The mode is set explicitly because the server's umask is meant for its other
/// files. Other accounts of the machine are kept out by the data directory's own mode.
inline constexpr mode_t kObjectMode = 0644;
inline constexpr mode_t kFolderMode = 0755;

/// Appends `length` bytes of `source` from `offset` on (fewer at its end) at the target's offset, inside the
/// kernel if the file system can. Blocks. kResourceExhausted: the disk is full.
[[nodiscard]] Status CopyBytes(int source, std::uint64_t offset, std::uint64_t length, int target);

/// Passes `length` bytes of an open file from `offset` on to `take`, piece by piece. Blocks. kAborted: the
/// file is shorter. Otherwise the error of `take`.
[[nodiscard]] Status ReadPieces(int source, std::uint64_t offset, std::uint64_t length,
                                const std::function<Status(std::string_view)>& take);

}  // namespace trainyard::storage
