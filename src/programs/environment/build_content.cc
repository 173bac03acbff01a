#include "programs/environment/build_content.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/async/file.h"
#include "base/async/unique_fd.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

/// Opens a directory that is no link; if its permissions exclude even its owner, it is made readable first.
Result<Folder> OpenFolder(int parent, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int file = ::openat(parent, name, kFlags);
  if (file < 0 && errno == EACCES) {
    // Does not follow links: the name may lead to something else by now.
    const UniqueFd locked(::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (locked) ::chmod(("/proc/self/fd/" + std::to_string(locked.get())).c_str(), S_IRWXU);
    file = ::openat(parent, name, kFlags);
  }
  if (file < 0) return std::unexpected(ErrnoError(errno, std::string("open ") + name));
  DIR* folder = ::fdopendir(file);
  if (folder == nullptr) {
    const int error = errno;
    ::close(file);
    return std::unexpected(ErrnoError(error, std::string("read ") + name));
  }
  return Folder(folder);
}

std::vector<std::string> Names(DIR* folder) {
  std::vector<std::string> names;
  ::rewinddir(folder);
  while (const dirent* entry = ::readdir(folder)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      names.emplace_back(entry->d_name);
  }
  return names;
}

struct Entry {
  int folder;  ///< the directory that contains the entry
  const std::string& name;
  fs::path path;  ///< relative to where the walk began
  struct stat status;
};

/// Visits the entries of the directory, then those of its subdirectories; a directory comes before its
/// contents. `visit` decides whether to enter a directory.
Status Walk(int parent, const std::string& name, const fs::path& path, int depth,
            const std::function<Result<bool>(const Entry& entry)>& visit) {
  if (depth > kContentDepthMax) {
    return std::unexpected(FailedPrecondition("folders of the packages are nested more than " +
                                              std::to_string(kContentDepthMax) + " deep"));
  }
  TY_TRY(const Folder folder, OpenFolder(parent, name.c_str()));
  const int file = ::dirfd(folder.get());
  for (const std::string& child : Names(folder.get())) {
    Entry entry{.folder = file, .name = child, .path = path / child, .status = {}};
    if (::fstatat(file, child.c_str(), &entry.status, AT_SYMLINK_NOFOLLOW) != 0)
      return std::unexpected(ErrnoError(errno, "stat " + entry.path.string()));
    TY_TRY(const bool goes_in, visit(entry));
    if (goes_in) TY_RETURN_IF_ERROR(Walk(file, child, entry.path, depth + 1, visit));
  }
  return {};
}

std::string ReadLink(const Entry& entry) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlinkat(entry.folder, entry.name.c_str(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

/// One directory while it is being taken back.
class Cleaning {
 public:
  Cleaning(fs::path folder, const ContentRules& rules) : folder_(std::move(folder)), rules_(rules) {}

  Result<std::vector<std::string>> Run() {
    TY_RETURN_IF_ERROR(Each([this](const Entry& entry) { return CountNames(entry); }));
    TY_RETURN_IF_ERROR(Each([this](const Entry& entry) { return Clean(entry); }));
    if (!rules_.is_image_layer &&
        (::lchown(folder_.c_str(), ::geteuid(), ::getegid()) != 0 || ::chmod(folder_.c_str(), 0755) != 0))
      return std::unexpected(ErrnoError(errno, "take back " + folder_.string()));
    if (dropped_ > kContentLinesMax)
      lines_.push_back("Dropped " + std::to_string(dropped_ - kContentLinesMax) + " more.");
    return std::move(lines_);
  }

 private:
  Status Each(const std::function<Result<bool>(const Entry& entry)>& visit) {
    return Walk(AT_FDCWD, folder_.string(), {}, 0, visit);
  }

  Result<bool> CountNames(const Entry& entry) {
    if (S_ISREG(entry.status.st_mode) && entry.status.st_nlink > 1) ++names_[entry.status.st_ino];
    return S_ISDIR(entry.status.st_mode);
  }

  /// Why the entry cannot be kept; empty: it can be kept.
  std::string WhyNot(const Entry& entry) {
    const struct stat& status = entry.status;
    if (S_ISDIR(status.st_mode)) return {};
    if (S_ISREG(status.st_mode)) {
      const bool has_others = status.st_nlink > 1 && names_[status.st_ino] != status.st_nlink;
      return has_others && !rules_.is_image_layer ? "it is a file of another folder as well" : "";
    }
    if (S_ISLNK(status.st_mode)) {
      if (rules_.is_image_layer) return {};
      const std::string text = ReadLink(entry);
      return LeadsNowhereElse(folder_, entry.path.parent_path(), text, rules_.link_targets)
                 ? std::string()
                 : "it is a link to " + text + ", outside of the installed packages";
    }
    if (rules_.is_image_layer && S_ISCHR(status.st_mode) && status.st_rdev == ::makedev(0, 0)) return {};
    return "it is a pipe, a socket or a device";
  }

  Result<bool> Clean(const Entry& entry) {
    if (const std::string why = WhyNot(entry); !why.empty()) {
      if (::unlinkat(entry.folder, entry.name.c_str(), 0) != 0)
        return std::unexpected(ErrnoError(errno, "remove " + entry.path.string()));
      if (++dropped_ <= kContentLinesMax)
        lines_.push_back("Dropped " + entry.path.string() + ": " + why + ".");
      return false;
    }
    if (!rules_.is_image_layer &&
        ::fchownat(entry.folder, entry.name.c_str(), ::geteuid(), ::getegid(), AT_SYMLINK_NOFOLLOW) != 0)
      return std::unexpected(ErrnoError(errno, "take back " + entry.path.string()));
    if (S_ISLNK(entry.status.st_mode) || S_ISCHR(entry.status.st_mode)) return false;
    return Narrow(entry);
  }

  Result<bool> Narrow(const Entry& entry) {
    const bool is_folder = S_ISDIR(entry.status.st_mode);
    const mode_t mode = entry.status.st_mode & 07777;
    mode_t wanted = mode & ~static_cast<mode_t>(S_ISUID | S_ISGID);
    // Readable by everybody: which accounts run programs with the packages is decided elsewhere.
    if (!rules_.is_image_layer) wanted = is_folder || (mode & S_IXUSR) != 0 ? 0755 : 0644;
    const bool is_others = rules_.is_image_layer && entry.status.st_uid != ::geteuid() && ::geteuid() != 0;
    if (wanted != mode && !is_others && ::fchmodat(entry.folder, entry.name.c_str(), wanted, 0) != 0)
      return std::unexpected(ErrnoError(errno, "chmod " + entry.path.string()));
    if ((mode & (S_ISUID | S_ISGID)) != 0 && !is_folder && !is_others && ++dropped_ <= kContentLinesMax)
      lines_.push_back("Removed the setuid and setgid bits of " + entry.path.string() + ".");
    return is_folder;
  }

  fs::path folder_;
  const ContentRules& rules_;
  std::map<ino_t, nlink_t> names_;  ///< for files with several hard links: how many are in the directory
  std::vector<std::string> lines_;
  std::size_t dropped_ = 0;
};

}  // namespace

Status GiveTo(const fs::path& folder, uid_t uid, gid_t gid) {
  if (::lchown(folder.c_str(), uid, gid) != 0)
    return std::unexpected(ErrnoError(errno, "chown " + folder.string()));
  return Walk(AT_FDCWD, folder.string(), {}, 0, [uid, gid](const Entry& entry) -> Result<bool> {
    if (::fchownat(entry.folder, entry.name.c_str(), uid, gid, AT_SYMLINK_NOFOLLOW) != 0)
      return std::unexpected(ErrnoError(errno, "chown " + entry.path.string()));
    return S_ISDIR(entry.status.st_mode);
  });
}

Result<std::vector<std::string>> CleanContent(const fs::path& folder, const ContentRules& rules) {
  return Cleaning(folder, rules).Run();
}

bool LeadsNowhereElse(const fs::path& folder, const fs::path& at, const std::string& text,
                      const std::vector<std::string>& targets) {
  if (text.empty()) return false;
  bool named = false;  // after the first name, another link may decide what ".." is
  for (const fs::path& part : fs::path(text)) {
    if (part == ".." && named) return false;
    named = named || (part != ".." && part != "." && part != "/");
  }
  const fs::path target =
      (fs::path(text).is_absolute() ? fs::path(text) : folder / at / text).lexically_normal();
  const auto is_below = [&target](const fs::path& top) {
    const fs::path relative = target.lexically_relative(top.lexically_normal());
    return !relative.empty() && *relative.begin() != "..";
  };
  if (is_below(folder)) return true;
  for (const std::string& allowed : targets)
    if (is_below(allowed)) return true;
  return false;
}

}  // namespace trainyard::environment
