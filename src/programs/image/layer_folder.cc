#include "programs/image/layer_folder.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ranges>
#include <system_error>

#include "base/async/file.h"
#include "base/async/remove_tree.h"

namespace trainyard::image {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPathLengthMax = 4096;
constexpr mode_t kFolderMode = 0755;
constexpr mode_t kSharedFolderMode = 01777;
constexpr std::string_view kWhiteoutPrefix = ".wh.";
constexpr std::string_view kOpaqueMarker = ".wh..wh..opq";

Error Hostile(std::string_view path, std::string_view why) {
  return InvalidArgument(
      {}, "a layer has the path '" + std::string(path.substr(0, 200)) + "', " + std::string(why));
}

Error Failed(std::string_view what, std::string_view path) {
  return ErrnoError(errno, std::string(what) + " " + std::string(path) + " of a layer");
}

/// Relative, without "." and doubled slashes: "./a//b/" is "a/b", "/" is "".
Result<std::string> Normal(std::string_view path) {
  if (path.size() > kPathLengthMax) return std::unexpected(Hostile(path, "which is longer than 4096 bytes"));
  if (path.find('\0') != std::string_view::npos)
    return std::unexpected(Hostile(path, "which has a zero byte"));
  std::string normal;
  for (const auto part : path | std::views::split('/')) {
    const std::string_view name(part.begin(), part.end());
    if (name.empty() || name == ".") continue;
    if (name == "..") return std::unexpected(Hostile(path, "which leads out of it"));
    normal += (normal.empty() ? "" : "/") + std::string(name);
  }
  return normal;
}

std::string ParentOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string NameOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// open(2) inside the root.
int OpenIn(int root, const std::string& path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, root, path.empty() ? "." : path.c_str(), &how, sizeof how));
}

/// Directories that an archive leaves out get their usual permissions.
mode_t UsualMode(std::string_view path) {
  return path == "tmp" || path == "var/tmp" ? kSharedFolderMode : kFolderMode;
}

bool Keeps(std::string_view xattr, bool privileged) {
  if (xattr == "security.capability") return privileged;
  return xattr.starts_with("user.") && !xattr.starts_with("user.overlay.");
}

std::string DescriptorPath(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

}  // namespace

Result<LayerFolder> LayerFolder::Open(const fs::path& path) {
  TY_TRY(UniqueFd root, OpenFile(path, O_RDONLY | O_DIRECTORY));
  return LayerFolder(std::move(root), ::geteuid() == 0);
}

Result<UniqueFd> LayerFolder::OpenFolder(const std::string& folder) const {
  UniqueFd opened(OpenIn(root_.get(), folder, O_RDONLY | O_DIRECTORY));
  if (!opened) return std::unexpected(Failed("open", folder));
  return opened;
}

Status LayerFolder::MakeParents(const std::string& folder) {
  for (std::size_t end = folder.find('/');; end = folder.find('/', end + 1)) {
    const std::string path = folder.substr(0, end);
    UniqueFd there(OpenIn(root_.get(), path, O_PATH | O_DIRECTORY));
    if (!there && errno == ENOENT) {
      TY_TRY(const UniqueFd parent, OpenFolder(ParentOf(path)));
      if (::mkdirat(parent.get(), NameOf(path).c_str(), UsualMode(path)) != 0)
        return std::unexpected(Failed("mkdir", path));
      if (::fchmodat(parent.get(), NameOf(path).c_str(), UsualMode(path), 0) != 0)
        return std::unexpected(Failed("chmod", path));
    } else if (!there) {
      return std::unexpected(Failed("open", path));
    }
    if (end == std::string::npos) return {};
  }
}

Result<int> LayerFolder::OpenParent(const std::string& folder) {
  if (parent_ && parent_path_ == folder) return parent_.get();
  int opened = OpenIn(root_.get(), folder, O_RDONLY | O_DIRECTORY);
  if (opened < 0 && errno == ENOENT) {
    TY_RETURN_IF_ERROR(MakeParents(folder));
    opened = OpenIn(root_.get(), folder, O_RDONLY | O_DIRECTORY);
  }
  if (opened < 0) return std::unexpected(Failed("open", folder));
  parent_.Reset(opened);
  parent_path_ = folder;
  return opened;
}

Result<LayerFolder::Place> LayerFolder::PlaceOf(std::string_view path) {
  TY_TRY(const std::string normal, Normal(path));
  if (normal.empty()) return std::unexpected(Hostile(path, "which is the root itself"));
  TY_TRY(const int parent, OpenParent(ParentOf(normal)));
  return Place{.parent = parent, .name = NameOf(normal)};
}

/// A later entry of an archive replaces an earlier one.
Status LayerFolder::ClearWay(const Place& place) const {
  if (::unlinkat(place.parent, place.name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return std::unexpected(Failed("unlink", place.name));
  if (::unlinkat(place.parent, place.name.c_str(), AT_REMOVEDIR) == 0) return {};
  static_cast<void>(RemoveTree(fs::path(DescriptorPath(place.parent)) / place.name));
  return {};
}

Status LayerFolder::AddDirectory(std::string_view path, const EntryAttributes& attributes) {
  TY_TRY(const std::string normal, Normal(path));
  if (!normal.empty()) {
    TY_TRY(const Place place, PlaceOf(path));
    struct stat there{};
    const bool exists = ::fstatat(place.parent, place.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && !S_ISDIR(there.st_mode)) TY_RETURN_IF_ERROR(ClearWay(place));
    if ((!exists || !S_ISDIR(there.st_mode)) && ::mkdirat(place.parent, place.name.c_str(), 0700) != 0)
      return std::unexpected(Failed("mkdir", path));
    // A directory that replaces a deleted one must not show the contents of that one.
    if (exists && S_ISCHR(there.st_mode) && there.st_rdev == 0) TY_RETURN_IF_ERROR(MarkOpaque(normal));
  }
  folders_.push_back({.path = normal, .attributes = attributes});
  return {};
}

Result<UniqueFd> LayerFolder::BeginFile(std::string_view path) {
  TY_TRY(const Place place, PlaceOf(path));
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd file(::openat(place.parent, place.name.c_str(), kFlags, 0600));
  if (!file && errno == EEXIST) {
    TY_RETURN_IF_ERROR(ClearWay(place));
    file.Reset(::openat(place.parent, place.name.c_str(), kFlags, 0600));
  }
  if (!file) return std::unexpected(Failed("open", path));
  return file;
}

Status LayerFolder::SetXattrs(int descriptor, std::string_view path,
                              const EntryAttributes& attributes) const {
  for (const auto& [name, value] : attributes.xattrs) {
    if (!Keeps(name, privileged_)) continue;
    if (::fsetxattr(descriptor, name.c_str(), value.data(), value.size(), 0) != 0 && errno != ENOTSUP)
      return std::unexpected(Failed("setxattr", path));
  }
  return {};
}

Status LayerFolder::FinishFile(int descriptor, std::string_view path, std::int64_t size,
                               const EntryAttributes& attributes) {
  const std::array<timespec, 2> times{attributes.modified, attributes.modified};
  if (::ftruncate(descriptor, size) != 0) return std::unexpected(Failed("write", path));
  if (privileged_ && ::fchown(descriptor, attributes.uid, attributes.gid) != 0)
    return std::unexpected(Failed("chown", path));
  TY_RETURN_IF_ERROR(SetXattrs(descriptor, path, attributes));  // chown takes capabilities away
  if (::fchmod(descriptor, attributes.mode) != 0) return std::unexpected(Failed("chmod", path));
  ::futimens(descriptor, times.data());
  return {};
}

Status LayerFolder::AddSymlink(std::string_view path, const std::string& target,
                               const EntryAttributes& attributes) {
  TY_TRY(const Place place, PlaceOf(path));
  if (::symlinkat(target.c_str(), place.parent, place.name.c_str()) != 0) {
    if (errno != EEXIST) return std::unexpected(Failed("symlink", path));
    TY_RETURN_IF_ERROR(ClearWay(place));
    if (::symlinkat(target.c_str(), place.parent, place.name.c_str()) != 0)
      return std::unexpected(Failed("symlink", path));
  }
  if (privileged_ &&
      ::fchownat(place.parent, place.name.c_str(), attributes.uid, attributes.gid, AT_SYMLINK_NOFOLLOW) != 0)
    return std::unexpected(Failed("chown", path));
  const std::array<timespec, 2> times{attributes.modified, attributes.modified};
  ::utimensat(place.parent, place.name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
  return {};
}

Status LayerFolder::AddHardLink(std::string_view path, std::string_view target) {
  TY_TRY(const std::string source, Normal(target));
  if (source.empty()) return std::unexpected(Hostile(path, "which links to the root"));
  const UniqueFd folder(OpenIn(root_.get(), ParentOf(source), O_RDONLY | O_DIRECTORY));
  struct stat there{};
  if (!folder || ::fstatat(folder.get(), NameOf(source).c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0)
    return std::unexpected(
        Hostile(path, "which links to '" + source.substr(0, 200) + "', which is not in it"));
  TY_TRY(const Place place, PlaceOf(path));
  if (::linkat(folder.get(), NameOf(source).c_str(), place.parent, place.name.c_str(), 0) == 0) return {};
  if (errno != EEXIST) return std::unexpected(Failed("link", path));
  TY_RETURN_IF_ERROR(ClearWay(place));
  if (::linkat(folder.get(), NameOf(source).c_str(), place.parent, place.name.c_str(), 0) != 0)
    return std::unexpected(Failed("link", path));
  return {};
}

Status LayerFolder::AddNode(std::string_view path, mode_t type, dev_t device,
                            const EntryAttributes& attributes) {
  const bool is_device = type == S_IFCHR || type == S_IFBLK;
  if (is_device && !privileged_)
    return std::unexpected(
        FailedPrecondition("a layer has the device '" + std::string(path) + "', which only root can unpack"));
  if (type == S_IFCHR && device == 0) return std::unexpected(Hostile(path, "a character device 0/0"));
  TY_TRY(const Place place, PlaceOf(path));
  TY_RETURN_IF_ERROR(ClearWay(place));
  if (::mknodat(place.parent, place.name.c_str(), type | attributes.mode, device) != 0)
    return std::unexpected(Failed("mknod", path));
  if (privileged_ &&
      ::fchownat(place.parent, place.name.c_str(), attributes.uid, attributes.gid, AT_SYMLINK_NOFOLLOW) != 0)
    return std::unexpected(Failed("chown", path));
  if (::fchmodat(place.parent, place.name.c_str(), attributes.mode, 0) != 0)
    return std::unexpected(Failed("chmod", path));
  return {};
}

bool LayerFolder::IsWhiteout(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with(kWhiteoutPrefix);
}

Status LayerFolder::AddWhiteout(std::string_view path) {
  TY_TRY(const std::string normal, Normal(path));
  const std::string name = NameOf(normal);
  if (name == kOpaqueMarker) return MarkOpaque(ParentOf(normal));
  if (name.starts_with(".wh..wh.")) return {};  // aufs' own files
  const std::string hidden = name.substr(kWhiteoutPrefix.size());
  if (hidden.empty() || hidden == "." || hidden == "..")
    return std::unexpected(Hostile(path, "which deletes no file"));
  TY_TRY(const Place place, PlaceOf(path));
  struct stat there{};
  // A whiteout does not hide entries of its own layer, in whatever order they come.
  if (::fstatat(place.parent, hidden.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0) {
    const std::string parent = ParentOf(normal);
    return S_ISDIR(there.st_mode) ? MarkOpaque((parent.empty() ? "" : parent + "/") + hidden) : Status();
  }
  if (::mknodat(place.parent, hidden.c_str(), S_IFCHR, makedev(0, 0)) != 0)
    return std::unexpected(Failed("mknod", path));
  return {};
}

Status LayerFolder::MarkOpaque(const std::string& folder) {
  TY_TRY(const int opened, OpenParent(folder));
  const bool marked = ::fsetxattr(opened, "user.overlay.opaque", "y", 1, 0) == 0;
  if (privileged_ && ::fsetxattr(opened, "trusted.overlay.opaque", "y", 1, 0) == 0) return {};
  if (marked && !privileged_) return {};
  return std::unexpected(Failed("setxattr", folder));
}

Status LayerFolder::Finish() {
  parent_.Reset();
  parent_path_.clear();
  for (const FolderAttributes& folder : folders_ | std::views::reverse) {
    const UniqueFd opened(OpenIn(root_.get(), folder.path, O_RDONLY | O_DIRECTORY));
    if (!opened) continue;  // replaced by a later entry
    const EntryAttributes& attributes = folder.attributes;
    if (privileged_ && ::fchown(opened.get(), attributes.uid, attributes.gid) != 0)
      return std::unexpected(Failed("chown", folder.path));
    TY_RETURN_IF_ERROR(SetXattrs(opened.get(), folder.path, attributes));
    const std::array<timespec, 2> times{attributes.modified, attributes.modified};
    ::futimens(opened.get(), times.data());
    if (::fchmod(opened.get(), attributes.mode) != 0) return std::unexpected(Failed("chmod", folder.path));
  }
  folders_.clear();
  return {};
}

int MoveFolder(const fs::path& from, const fs::path& to) {
  constexpr mode_t kPermissions = 07777;
  struct stat seen{};
  if (::lstat(from.c_str(), &seen) != 0) return errno;
  const bool closed = S_ISDIR(seen.st_mode) && (seen.st_mode & S_IWUSR) == 0;
  if (closed && ::chmod(from.c_str(), (seen.st_mode & kPermissions) | S_IWUSR) != 0) return errno;
  if (::rename(from.c_str(), to.c_str()) != 0) return errno;
  return closed && ::chmod(to.c_str(), seen.st_mode & kPermissions) != 0 ? errno : 0;
}

}  // namespace trainyard::image
