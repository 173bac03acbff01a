#include "replica/shell/replica_shell.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

#include "base/async/file.h"
#include "base/async/unique_fd.h"

namespace trainyard::shell {

namespace {

constexpr const char* kOwnFile = "/proc/self/exe";
constexpr const char* kCopyName = "trainyard-shell";
constexpr std::string_view kCopyPath = "/memfd:trainyard-shell";

bool IsCopy() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink(kOwnFile, path.data(), path.size());
  return size > 0 && std::string_view(path.data(), static_cast<std::size_t>(size)).starts_with(kCopyPath);
}

Status CopyTo(int copy) {
  TY_TRY(const UniqueFd own, OpenFile(kOwnFile, O_RDONLY));
  struct stat found{};
  if (fstat(own.get(), &found) != 0) return std::unexpected(ErrnoError(errno, "read this program"));
  for (off_t left = found.st_size; left > 0;) {
    const ssize_t size = sendfile(copy, own.get(), nullptr, static_cast<std::size_t>(left));
    if (size <= 0) return std::unexpected(ErrnoError(size < 0 ? errno : EIO, "copy this program"));
    left -= size;
  }
  return {};
}

}  // namespace

Status RunFromOwnCopy(char* const* arguments) {
  if (IsCopy()) {
    prctl(PR_SET_NAME, "trainyard");  // instead of a descriptor's number
    return {};
  }
  const UniqueFd copy(memfd_create(kCopyName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!copy) return std::unexpected(ErrnoError(errno, "memfd_create"));
  TY_RETURN_IF_ERROR(CopyTo(copy.get()));
  if (fcntl(copy.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return std::unexpected(ErrnoError(errno, "seal the copy of this program"));
  fexecve(copy.get(), arguments, environ);
  return std::unexpected(ErrnoError(errno, "run the copy of this program"));
}

}  // namespace trainyard::shell
