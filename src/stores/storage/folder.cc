#include "stores/storage/folder.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/async/beneath.h"

namespace trainyard::storage {
namespace {

std::unexpected<Error> Failed(std::string_view call, const std::string& name) {
  const int error_number = errno;
  return std::unexpected(ErrnoError(error_number, std::string(call) + " " + name));
}

std::unexpected<Error> NoSuchObject() { return std::unexpected(NotFound("no such object")); }

std::unexpected<Error> InTheWay(const std::string& name) {
  return std::unexpected(FailedPrecondition("\"" + name +
                                            "\" in the bucket's folder is neither a file nor a folder; "
                                            "symbolic links inside a bucket are not followed"));
}

enum class Kind { kNone, kFile, kFolder, kOther };

Kind KindOf(int folder, const std::string& name) {
  struct stat status{};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return Kind::kNone;
  if (S_ISREG(status.st_mode)) return Kind::kFile;
  return S_ISDIR(status.st_mode) ? Kind::kFolder : Kind::kOther;
}

Status Sync(int folder, const std::string& name) {
  if (::fsync(folder) != 0) return Failed("fsync", name);
  return {};
}

/// Directories whose changes of names are not synced yet.
class Unsynced {
 public:
  void Add(UniqueFd folder) {
    if (folders_.size() < kEachMax) folders_.push_back(std::move(folder));
    ++count_;
  }
  /// @param last  the innermost directory, which changed too.
  Status Sync(int last) {
    // A sync of one directory costs a write to the disk: for a deep path, syncing the whole file system is
    // cheaper.
    if (count_ > kEachMax)
      return ::syncfs(last) == 0 ? Status() : Status(Failed("syncfs", "the bucket's folder"));
    for (const UniqueFd& folder : folders_) {
      if (::fsync(folder.get()) != 0) return Failed("fsync", "a folder of the bucket");
    }
    return ::fsync(last) == 0 ? Status() : Status(Failed("fsync", "a folder of the bucket"));
  }

 private:
  static constexpr std::size_t kEachMax = 8;
  std::vector<UniqueFd> folders_;
  std::size_t count_ = 0;
};

/// Opens the directory `name`, creating it if needed: then `parent` is passed to `unsynced`.
Result<UniqueFd> MakeFolder(UniqueFd parent, const std::string& name, Unsynced& unsynced) {
  const std::span<const std::string> only(&name, 1);
  Result<UniqueFd> folder = OpenFolderBeneath(parent.get(), only);
  if (folder || folder.error().code != Code::kNotFound) return folder;
  if (KindOf(parent.get(), name) == Kind::kFile) {
    // "a" is renamed so that "a/b" can exist; readers try the second name if the first is not a file.
    if (::renameat(parent.get(), name.c_str(), parent.get(), DisplacedName(name).c_str()) != 0) {
      return Failed("rename", name);
    }
  } else if (KindOf(parent.get(), name) == Kind::kOther) {
    return InTheWay(name);
  }
  const bool made = ::mkdirat(parent.get(), name.c_str(), kFolderMode) == 0;
  if (!made && errno != EEXIST) return Failed("mkdir", name);
  folder = OpenFolderBeneath(parent.get(), only);
  if (!folder && folder.error().code == Code::kNotFound) return InTheWay(name);  // put there just now
  if (!folder) return folder;
  if (made && ::fchmod(folder->get(), kFolderMode) != 0) return Failed("chmod", name);
  unsynced.Add(std::move(parent));
  return folder;
}

/// After a directory was removed: an object with the directory's name can have its ordinary name again.
void RestoreDisplaced(int parent, const std::string& name) {
  ::renameat2(parent, DisplacedName(name).c_str(), parent, name.c_str(), RENAME_NOREPLACE);
}

void PruneFolders(int bucket, std::span<const std::string> folders) {
  UniqueFd outermost;
  for (; !folders.empty(); folders = folders.first(folders.size() - 1)) {
    auto parent = OpenFolderBeneath(bucket, folders.first(folders.size() - 1));
    if (!parent || ::unlinkat(parent->get(), folders.back().c_str(), AT_REMOVEDIR) != 0) break;
    RestoreDisplaced(parent->get(), folders.back());
    outermost = *std::move(parent);
  }
  if (outermost) ::fsync(outermost.get());
}

/// A bucket's directory may be on another file system: then the bytes are copied first, under a name that no
/// object has.
Status MoveAcross(int source_folder, const std::string& source_name, int target, const std::string& name) {
  const std::string temporary = ".%tmp." + source_name;
  TY_TRY(const UniqueFd source, OpenFileBeneath(source_folder, source_name));
  UniqueFd copy(
      ::openat(target, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kObjectMode));
  if (!copy || ::fchmod(copy.get(), kObjectMode) != 0) return Failed("create", name);
  Status done = CopyBytes(source.get(), 0, std::numeric_limits<std::uint64_t>::max(), copy.get());
  if (done && ::fsync(copy.get()) != 0) done = Failed("fsync", name);
  if (done && ::renameat(target, temporary.c_str(), target, name.c_str()) != 0) done = Failed("rename", name);
  if (!done) {
    ::unlinkat(target, temporary.c_str(), 0);
    return done;
  }
  ::unlinkat(source_folder, source_name.c_str(), 0);
  return {};
}

constexpr std::size_t kPieceBytes = std::size_t{64} << 20;
constexpr std::uint64_t kReadBytes = std::uint64_t{1} << 20;

}  // namespace

FileStamp StampOf(const struct stat& status) noexcept {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return {.size = static_cast<std::uint64_t>(status.st_size),
          .mtime_ns = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec,
          .inode = status.st_ino};
}

Result<FileStamp> StampOf(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return Failed("stat", "an object's file");
  return StampOf(status);
}

Result<UniqueFd> OpenObject(int bucket, const ObjectPath& path) {
  TY_TRY(const UniqueFd folder, OpenFolderBeneath(bucket, path.folders));
  Result<UniqueFd> file = OpenFileBeneath(folder.get(), path.file);
  if (file || file.error().code != Code::kNotFound) return file;
  return OpenFileBeneath(folder.get(), DisplacedName(path.file));
}

Status PlaceFile(int bucket, const ObjectPath& path, int source_folder, const std::string& source_name) {
  TY_TRY(UniqueFd folder, OpenFolderBeneath(bucket, {}));
  Unsynced unsynced;
  for (const std::string& name : path.folders) {
    TY_TRY(folder, MakeFolder(std::move(folder), name, unsynced));
  }
  const bool displaced = KindOf(folder.get(), path.file) == Kind::kFolder;
  const std::string name = displaced ? DisplacedName(path.file) : path.file;
  if (::renameat(source_folder, source_name.c_str(), folder.get(), name.c_str()) != 0) {
    if (errno != EXDEV) return Failed("rename", path.file);
    TY_RETURN_IF_ERROR(MoveAcross(source_folder, source_name, folder.get(), name));
  }
  if (!displaced) ::unlinkat(folder.get(), DisplacedName(path.file).c_str(), 0);
  return unsynced.Sync(folder.get());
}

/// Removes the object's file.
/// @return the directory that it was in, which is not synced yet.
static Result<UniqueFd> Unlink(int bucket, const ObjectPath& path) {
  TY_TRY(UniqueFd folder, OpenFolderBeneath(bucket, path.folders));
  bool removed = false;
  for (const std::string& name : {path.file, DisplacedName(path.file)}) {
    if (KindOf(folder.get(), name) != Kind::kFile) continue;
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0) return Failed("remove", name);
    removed = true;
  }
  if (!removed) return NoSuchObject();
  return folder;
}

Status RemoveFile(int bucket, const ObjectPath& path) {
  TY_TRY(const UniqueFd folder, Unlink(bucket, path));
  TY_RETURN_IF_ERROR(Sync(folder.get(), path.file));
  PruneFolders(bucket, path.folders);
  return {};
}

Result<std::vector<bool>> RemoveFiles(int bucket, std::span<const ObjectPath> paths) {
  std::vector<bool> removed;
  std::map<std::vector<std::string>, UniqueFd> changed;
  for (const ObjectPath& path : paths) {
    Result<UniqueFd> folder = Unlink(bucket, path);
    if (!folder && folder.error().code != Code::kNotFound) return std::unexpected(folder.error());
    removed.push_back(folder.has_value());
    if (folder) changed.try_emplace(path.folders, *std::move(folder));
  }
  for (const auto& [components, folder] : changed)
    TY_RETURN_IF_ERROR(Sync(folder.get(), "a folder of the bucket"));
  for (const auto& [components, folder] : changed) PruneFolders(bucket, components);
  return removed;
}

Status CopyBytes(int source, std::uint64_t offset, std::uint64_t length, int target) {
  auto at = static_cast<off_t>(offset);
  bool copied_some = false;
  bool in_place = true;  // copy_file_range shares blocks on some file systems and refuses pairs of others
  while (length > 0) {
    const std::size_t want = std::min<std::uint64_t>(length, kPieceBytes);
    const ssize_t copied = in_place ? ::copy_file_range(source, &at, target, nullptr, want, 0)
                                    : ::sendfile(target, source, &at, want);
    if (copied > 0) {
      length -= static_cast<std::uint64_t>(copied);
      copied_some = true;
      continue;
    }
    if (copied < 0 && errno == EINTR) continue;
    if (copied == 0 && (copied_some || !in_place)) return {};
    // Some file systems return 0 for "not supported": an empty file is confirmed by sendfile.
    const bool refused =
        copied == 0 || errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
    if (!in_place || !refused) return std::unexpected(ErrnoError(errno, "copy"));
    in_place = false;
  }
  return {};
}

Status ReadPieces(int source, std::uint64_t offset, std::uint64_t length,
                  const std::function<Status(std::string_view)>& take) {
  std::vector<char> buffer(std::min(length, kReadBytes));
  while (length > 0) {
    const std::size_t want = std::min(length, kReadBytes);
    const ssize_t got = ::pread(source, buffer.data(), want, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(ErrnoError(errno, "read"));
    if (got == 0) return std::unexpected(Aborted("the file became shorter while it was read"));
    TY_RETURN_IF_ERROR(take({buffer.data(), static_cast<std::size_t>(got)}));
    offset += static_cast<std::uint64_t>(got);
    length -= static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace trainyard::storage
