#include "control/upkeep/disk_advice.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/async/unique_fd.h"

namespace trainyard::control {

namespace {

constexpr std::int64_t kFullBelow = std::int64_t{1} << 20;
constexpr std::uint64_t kFewFiles = 16;

}  // namespace

DiskTrouble LookForDiskTrouble(const std::string& data) {
  struct statvfs space{};
  const UniqueFd folder(::open(data.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return {.answers = errno != EIO};
  if (::fstatvfs(folder.get(), &space) != 0) return {.answers = errno != EIO};
  const bool no_files = space.f_files > 0 && space.f_favail < kFewFiles;
  // After an error, some file systems refuse writes without being read-only for statvfs(2). The file has no
  // name: it is not visible, and is removed immediately.
  const UniqueFd made(::open(data.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
  const int refused = made ? 0 : errno;
  return {.answers = refused != EIO && refused != EUCLEAN,
          .is_read_only = refused == EROFS || (space.f_flag & ST_RDONLY) != 0,
          .is_full = no_files || static_cast<std::int64_t>(space.f_bavail * space.f_frsize) < kFullBelow};
}

Error WithDiskAdvice(Error error, const DiskTrouble& trouble, const std::string& data) {
  if (!trouble.answers) {
    error.message += ". The disk of " + data +
                     " answers with errors: look at the kernel's messages (dmesg) and repair or replace the "
                     "disk before the next start; a backup is restored with trainyard admin restore";
  } else if (trouble.is_read_only) {
    error.message += ". The disk of " + data +
                     " is mounted read-only, perhaps after an error: look at the kernel's messages (dmesg), "
                     "mount it for writing, then start the server again";
  } else if (trouble.is_full) {
    error.message += ". The disk of " + data +
                     " is full: make some megabytes free on it, outside of this directory or in its "
                     "buckets, environments and images, then start the server again";
  }
  return error;
}

}  // namespace trainyard::control
