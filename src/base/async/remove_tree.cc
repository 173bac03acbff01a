#include "base/async/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "base/async/directory.h"

namespace trainyard {

namespace {

/// How many names are read before their entries are removed: a folder of a million entries takes no more
/// memory than a small one.
constexpr std::size_t kScanMax = 1000;
constexpr std::size_t kStepEntries = 1U << 20;

std::unexpected<Error> Failed(std::string_view call, const std::string& name) {
  const int error_number = errno;
  return std::unexpected(ErrnoError(error_number, std::string(call) + " " + name));
}

bool IsFolder(int folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat status{};
  return ::fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/// A program may have removed the permissions of its own folders. They are set through a descriptor, so that
/// a link in the folder's place does not get them.
UniqueFd OpenClosedFolder(int parent, const char* name) {
  const UniqueFd held(::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!held) return {};
  const std::string same = "/proc/self/fd/" + std::to_string(held.get());
  if (::chmod(same.c_str(), S_IRWXU) != 0) return {};
  return UniqueFd(::openat(parent, name, kOpenFolder));
}

UniqueFd OpenChild(int parent, const char* name, bool open_closed) {
  UniqueFd folder(::openat(parent, name, kOpenFolder));
  if (!folder && errno == EACCES && open_closed) return OpenClosedFolder(parent, name);
  return folder;
}

}  // namespace

Result<TreeRemover> TreeRemover::Below(int folder, What what) {
  TreeRemover remover({}, what);
  UniqueFd own(::openat(folder, ".", kOpenFolder));
  if (!own) return Failed("open", "a folder to be emptied");
  TY_RETURN_IF_ERROR(remover.Enter(std::move(own), {}));
  return remover;
}

Status TreeRemover::Enter(UniqueFd folder, std::string name) {
  struct stat status{};
  if (::fstat(folder.get(), &status) != 0) return Failed("stat", name);
  if (!levels_.empty() && status.st_dev != levels_.front().device)
    return std::unexpected(FailedPrecondition("another file system is mounted at \"" + name + "\""));
  // If this fails, removing what is inside reports it.
  if (what_ == What::kEverything && (status.st_mode & S_IRWXU) != S_IRWXU)
    ::fchmod(folder.get(), (status.st_mode & 07777) | S_IRWXU);
  levels_.push_back({.device = status.st_dev, .inode = status.st_ino, .name = std::move(name)});
  current_ = std::move(folder);
  return {};
}

/// Removes files of the current directory and notes its subdirectories, up to kScanMax of both. 0: it is
/// empty.
Result<std::size_t> TreeRemover::Scan() {
  UniqueFd own(::openat(current_.get(), ".", kOpenFolder));
  const DirectoryPtr directory(own ? ::fdopendir(own.get()) : nullptr);
  if (!directory) return Failed("read", "the folder \"" + levels_.back().name + "\"");
  [[maybe_unused]] const int closed_by_closedir = own.Release();
  std::size_t found = 0;
  errno = 0;
  for (const dirent* entry = nullptr; found < kScanMax && (entry = ::readdir(directory.get())) != nullptr;
       errno = 0) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    ++found;
    if (IsFolder(current_.get(), *entry)) {
      levels_.back().folders.emplace_back(name);
    } else if (what_ == What::kFoldersOnly) {
      return std::unexpected(Aborted("its folder holds \"" + std::string(name) + "\""));
    } else if (::unlinkat(current_.get(), entry->d_name, 0) != 0 && errno != ENOENT) {
      return Failed("remove", std::string(name));
    }
  }
  if (found == 0 && errno != 0) return Failed("read", "the folder \"" + levels_.back().name + "\"");
  return found;
}

Status TreeRemover::RemoveFolder(const std::string& name) {
  if (::unlinkat(current_.get(), name.c_str(), AT_REMOVEDIR) == 0) return {};
  switch (errno) {
    case ENOTEMPTY:
    case EEXIST: return Descend(name);
    case ENOENT:
    case ENOTDIR: return {};  // it is gone, or a file by now: the next scan finds out
    default: return Failed("remove", name);
  }
}

Status TreeRemover::Descend(const std::string& name) {
  UniqueFd folder = OpenChild(current_.get(), name.c_str(), what_ == What::kEverything);
  if (!folder && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return {};
  if (!folder) return Failed("open", name);
  return Enter(std::move(folder), name);
}

/// Returns to the parent directory, and checks that it is the same one: if a directory was moved, its ".." is
/// another one.
Status TreeRemover::GoUp() {
  const std::string name = std::move(levels_.back().name);
  levels_.pop_back();
  UniqueFd parent(::openat(current_.get(), "..", kOpenFolder));
  struct stat status{};
  if (!parent || ::fstat(parent.get(), &status) != 0) return Failed("open", "the folder of " + name);
  if (status.st_dev != levels_.back().device || status.st_ino != levels_.back().inode)
    return std::unexpected(Aborted("the folder \"" + name + "\" was moved while it was removed"));
  current_ = std::move(parent);
  if (::unlinkat(current_.get(), name.c_str(), AT_REMOVEDIR) == 0) return {};
  if (errno == ENOENT || errno == ENOTDIR || errno == ENOTEMPTY || errno == EEXIST) return {};  // as above
  return Failed("remove", name);
}

Result<bool> TreeRemover::Step(std::size_t entries_max) {
  const std::size_t until = seen_ + entries_max;
  while (seen_ < until) {
    if (seen_ > kEntriesMax) return std::unexpected(Aborted("there is no end of entries in it"));
    if (!levels_.back().folders.empty()) {
      const std::string name = std::move(levels_.back().folders.back());
      levels_.back().folders.pop_back();
      ++seen_;
      TY_RETURN_IF_ERROR(RemoveFolder(name));
      continue;
    }
    TY_TRY(const std::size_t found, Scan());
    seen_ += found + 1;
    if (found > 0) continue;
    if (levels_.size() == 1) return true;
    TY_RETURN_IF_ERROR(GoUp());
  }
  return false;
}

Status RemoveTree(const std::filesystem::path& path) {
  UniqueFd folder = OpenChild(AT_FDCWD, path.c_str(), true);
  if (!folder && errno == ENOENT) return {};
  if (!folder && (errno == ENOTDIR || errno == ELOOP)) {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
    return Failed("remove", path.string());
  }
  if (!folder) return Failed("open", path.string());
  Result<TreeRemover> remover = TreeRemover::Below(folder.get(), TreeRemover::What::kEverything);
  Result<bool> done = remover ? remover->Step(kStepEntries) : std::unexpected(remover.error());
  while (done && !*done) done = remover->Step(kStepEntries);
  if (!done)
    return std::unexpected(Error{done.error().code, path.string() + ": " + done.error().message, {}});
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
  return Failed("remove", path.string());
}

}  // namespace trainyard
