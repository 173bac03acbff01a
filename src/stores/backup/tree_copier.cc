#include "stores/backup/tree_copier.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <string_view>
#include <vector>

#include "base/async/beneath.h"
#include "base/async/file.h"
#include "stores/storage/folder.h"

namespace trainyard::backup {

namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
/// If a pipe replaces the file meanwhile, opening it must not block.
constexpr int kFileFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
constexpr mode_t kPermissions = 01777;
/// An object's name has 1,024 bytes: what is deeper below a bucket is not an object, and a program of a job
/// may have made it to exhaust the stack.
constexpr int kDepthMax = 600;

std::unexpected<Error> Failed(std::string_view call, std::string_view name) {
  const int error_number = errno;
  return std::unexpected(ErrnoError(error_number, std::string(call) + " " + std::string(name)));
}

/// It was removed, or became something else, between two system calls.
bool HasVanished() { return errno == ENOENT || errno == ELOOP || errno == ENOTDIR; }

/// Only root can set owners.
Status SetAttributes(int descriptor, const struct stat& like, std::string_view name) {
  if (::geteuid() == 0 && ::fchown(descriptor, like.st_uid, like.st_gid) != 0) return Failed("chown", name);
  if (::fchmod(descriptor, like.st_mode & kPermissions) != 0) return Failed("chmod", name);
  const std::array<timespec, 2> times = {like.st_atim, like.st_mtim};
  if (::futimens(descriptor, times.data()) != 0) return Failed("set the time of", name);
  return {};
}

Status IsLink(const std::string& name) {
  return std::unexpected(FailedPrecondition(name + " is a link: replace it by the file that it points to"));
}

Status CopySymlink(int source, int target, const char* name) {
  std::array<char, PATH_MAX> text{};
  const ssize_t length = ::readlinkat(source, name, text.data(), text.size() - 1);
  if (length < 0) return HasVanished() || errno == EINVAL ? Status() : Failed("read link", name);
  if (::symlinkat(text.data(), target, name) != 0 && errno != EEXIST) return Failed("make link", name);
  return {};
}

}  // namespace

Status TreeCopier::Copy(const std::string& source, const std::string& target) {
  struct stat seen{};
  if (::stat(source.c_str(), &seen) != 0) return Failed("stat", source);
  if (!S_ISDIR(seen.st_mode)) {
    const std::string::size_type from = source.rfind('/');
    const std::string::size_type to = target.rfind('/');
    TY_TRY(const UniqueFd source_folder, OpenFile(source.substr(0, from), O_RDONLY | O_DIRECTORY));
    TY_TRY(const UniqueFd target_folder, OpenFile(target.substr(0, to), O_RDONLY | O_DIRECTORY));
    return CopyFile(source_folder.get(), target_folder.get(), source.c_str() + from + 1, seen);
  }
  TY_TRY(const UniqueFd source_folder, OpenFile(source, O_RDONLY | O_DIRECTORY));
  TY_RETURN_IF_ERROR(MakeFolders(target, 0700));
  TY_TRY(const UniqueFd target_folder, OpenFile(target, O_RDONLY | O_DIRECTORY));
  TY_RETURN_IF_ERROR(CopyFolder(source_folder.get(), target_folder.get()));
  return SetAttributes(target_folder.get(), seen, target);
}

Status TreeCopier::CopyAt(int source, int target, const std::string& name) {
  struct stat seen{};
  if (::fstatat(source, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) return Failed("stat", name);
  if (S_ISLNK(seen.st_mode)) return IsLink(name);
  return CopyEntry(source, target, name.c_str());
}

Status TreeCopier::CopyFolder(int source, int target) {
  TY_TRY(const std::vector<std::string> names, NamesIn(source));
  for (const std::string& name : names) TY_RETURN_IF_ERROR(CopyEntry(source, target, name.c_str()));
  return {};
}

Status TreeCopier::CopyEntry(int source, int target, const char* name) {
  if (options_.stop.stop_requested()) return std::unexpected(Error{Code::kCancelled, "it was stopped", {}});
  struct stat seen{};
  if (::fstatat(source, name, &seen, AT_SYMLINK_NOFOLLOW) != 0)
    return HasVanished() ? Status() : Failed("stat", name);
  if (S_ISDIR(seen.st_mode)) return EnterFolder(source, target, name);
  if (S_ISLNK(seen.st_mode)) return options_.refuses_links ? IsLink(name) : CopySymlink(source, target, name);
  if (S_ISREG(seen.st_mode)) return CopyFile(source, target, name, seen);
  return {};
}

Status TreeCopier::EnterFolder(int source, int target, const char* name) {
  if (depth_ >= kDepthMax) return {};
  const UniqueFd inner(::openat(source, name, kFolderFlags));
  if (!inner) return HasVanished() ? Status() : Failed("open", name);
  struct stat seen{};
  if (::fstat(inner.get(), &seen) != 0) return Failed("stat", name);
  if (::mkdirat(target, name, 0700) != 0 && errno != EEXIST) return Failed("make folder", name);
  const UniqueFd inner_target(::openat(target, name, kFolderFlags));
  if (!inner_target) return Failed("open", name);
  ++depth_;
  const std::size_t outer = folder_.size();
  folder_ += std::string(name) + "/";
  const Status copied = CopyFolder(inner.get(), inner_target.get());
  folder_.resize(outer);
  --depth_;
  TY_RETURN_IF_ERROR(copied);
  return SetAttributes(inner_target.get(), seen, name);
}

Status TreeCopier::CopyFile(int source, int target, const char* name, const struct stat& seen) {
  struct stat there{};
  if (::fstatat(target, name, &there, AT_SYMLINK_NOFOLLOW) == 0) return {};
  if (!can_clone_ && Link(source, target, name, seen)) return {};
  const UniqueFd from(::openat(source, name, kFileFlags));
  if (!from) return HasVanished() ? Status() : Failed("open", name);
  struct stat now{};
  if (::fstat(from.get(), &now) != 0) return Failed("stat", name);
  if (!S_ISREG(now.st_mode)) return {};
  if (options_.before_copy) TY_RETURN_IF_ERROR(options_.before_copy(folder_ + name, now));
  UniqueFd to(::openat(target, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!to) return Failed("make", name);
  if (!Clone(from.get(), to.get())) {
    if (options_.may_link && options_.may_link(now)) {  // found out only now that blocks cannot be shared
      to = UniqueFd();
      ::unlinkat(target, name, 0);
      if (Link(source, target, name, now)) return {};
      to = UniqueFd(::openat(target, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (!to) return Failed("make", name);
    }
    TY_RETURN_IF_ERROR(storage::CopyBytes(from.get(), 0, static_cast<std::uint64_t>(now.st_size), to.get()));
  }
  TY_RETURN_IF_ERROR(SetAttributes(to.get(), now, name));
  Count(now.st_size, false);
  return {};
}

/// False: it has to be copied.
bool TreeCopier::Link(int source, int target, const char* name, const struct stat& seen) {
  if (!can_link_ || !options_.may_link || !options_.may_link(seen)) return false;
  if (::linkat(source, name, target, name, 0) != 0) {
    can_link_ = errno != EXDEV && errno != EOPNOTSUPP;  // EPERM is about one file: that of another account
    return false;
  }
  struct stat linked{};
  const bool same = ::fstatat(target, name, &linked, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(linked.st_mode) &&
                    linked.st_ino == seen.st_ino;
  if (same) {
    Count(linked.st_size, true);
  } else {  // it was replaced in between: the next call says by what
    ::unlinkat(target, name, 0);
  }
  return same;
}

/// Shares blocks: later writes to one file do not change the other.
bool TreeCopier::Clone(int source, int target) {
  if (!can_clone_) return false;
  if (::ioctl(target, FICLONE, source) == 0) return true;
  can_clone_ = false;
  return false;
}

void TreeCopier::Count(std::int64_t bytes, bool linked) {
  ++counts_.files;
  counts_.bytes += bytes;
  if (linked) ++counts_.linked_files;
  if (options_.on_progress) options_.on_progress(counts_);
}

}  // namespace trainyard::backup
