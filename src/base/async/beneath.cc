#include "base/async/beneath.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/async/directory.h"

namespace trainyard {
namespace {

/// openat2 fails with EAGAIN when something was moved in the meantime.
constexpr int kTriesMax = 8;

std::unexpected<Error> Failed(const std::string& name) {
  const int error_number = errno;
  return std::unexpected(ErrnoError(error_number, "open " + name));
}

std::unexpected<Error> Missing() { return std::unexpected(NotFound("no such object")); }

bool IsMissing(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP ||
         error_number == ENAMETOOLONG || error_number == EXDEV;
}

bool IsComponent(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

/// Returns -1 with errno set; ENOSYS if the kernel (or a seccomp filter) has no openat2.
UniqueFd OpenByKernel(int folder, const std::string& path) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(kOpenFolder);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    UniqueFd opened(static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how)));
    if (opened || (errno != EAGAIN && errno != EINTR)) return opened;
  }
  return {};
}

bool KernelHasOpenat2() {
  static const bool has = [] {
    const UniqueFd here(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    open_how how{};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH;
    return static_cast<bool>(
        UniqueFd(static_cast<int>(::syscall(SYS_openat2, here.get(), ".", &how, sizeof how))));
  }();
  return has;
}

/// As many of the names as one path can hold.
std::string TakePath(std::span<const std::string>& names) {
  std::string path = names.front();
  names = names.subspan(1);
  while (!names.empty() && path.size() + 1 + names.front().size() < PATH_MAX) {
    path.append("/").append(names.front());
    names = names.subspan(1);
  }
  return path;
}

}  // namespace

Result<UniqueFd> OpenFolderBeneath(int folder, std::span<const std::string> names, BeneathWay way) {
  for (const std::string& name : names) {
    if (!IsComponent(name)) return Missing();
  }
  UniqueFd current;
  if (names.empty()) {
    current.Reset(::openat(folder, ".", kOpenFolder));
    if (!current) return Failed("a bucket's folder");
  }
  const bool by_kernel = way == BeneathWay::kBest && KernelHasOpenat2();
  while (!names.empty()) {
    const int from = current ? current.get() : folder;
    std::string path;
    UniqueFd next;
    if (by_kernel) {
      path = TakePath(names);
      next = OpenByKernel(from, path);
    } else {
      path = names.front();
      names = names.subspan(1);
      next.Reset(::openat(from, path.c_str(), kOpenFolder));
    }
    if (!next && IsMissing(errno)) return Missing();
    if (!next) return Failed(path);
    current = std::move(next);
  }
  return current;
}

Result<UniqueFd> OpenFileBeneath(int folder, const std::string& name) {
  if (!IsComponent(name)) return Missing();
  // Opened with O_PATH first, checked, then opened: so exactly the checked file is opened.
  const UniqueFd held(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!held && IsMissing(errno)) return Missing();
  if (!held) return Failed(name);
  struct stat status{};
  if (::fstat(held.get(), &status) != 0) return Failed(name);
  if (!S_ISREG(status.st_mode)) return Missing();
  const std::string same = "/proc/self/fd/" + std::to_string(held.get());
  // O_NONBLOCK: a lease that another program holds on the file must not block us.
  UniqueFd file(::open(same.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == EWOULDBLOCK)
    return std::unexpected(Unavailable("another program holds a lease on the object's file; ask again"));
  if (!file) return Failed(name);
  return file;
}

Result<std::vector<std::string>> NamesIn(int folder) {
  UniqueFd own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const DirectoryPtr directory(own ? ::fdopendir(own.get()) : nullptr);
  if (!directory) return std::unexpected(ErrnoError(errno, "read a folder"));
  [[maybe_unused]] const int closed_by_closedir = own.Release();
  std::vector<std::string> names;
  for (errno = 0; const dirent* entry = ::readdir(directory.get()); errno = 0) {
    if (std::string_view(entry->d_name) != "." && std::string_view(entry->d_name) != "..")
      names.emplace_back(entry->d_name);
  }
  if (errno != 0) return std::unexpected(ErrnoError(errno, "read a folder"));
  std::ranges::sort(names);
  return names;
}

}  // namespace trainyard
