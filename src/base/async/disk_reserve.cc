#include "base/async/disk_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/async/unique_fd.h"

namespace trainyard {

namespace {

constexpr mode_t kOwnersFile = 0600;

/// 0 if the file system does not report it.
std::int64_t FreeBytes(const std::string& file) {
  struct statvfs space{};
  if (::statvfs(std::filesystem::path(file).parent_path().c_str(), &space) != 0) return 0;
  return static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
}

std::int64_t SizeOf(const std::string& file) {
  struct stat status{};
  return ::stat(file.c_str(), &status) == 0 ? status.st_size : 0;
}

}  // namespace

void DiskReserve::Keep() {
  state_.With([this](State& state) {
    if ((state.is_whole && SizeOf(path_) == kBytes) || FreeBytes(path_) < kFreeMin + kBytes) return;
    const UniqueFd file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kOwnersFile));
    // Not fallocate(2): if the file system does not support it, posix_fallocate writes the bytes.
    state.is_whole = file && ::posix_fallocate(file.get(), 0, kBytes) == 0;
    if (file && !state.is_whole) ::unlink(path_.c_str());
  });
}

bool DiskReserve::GiveUp() {
  return state_.With([this](State&) {
    const std::int64_t size = SizeOf(path_);
    return size > 0 && ::truncate(path_.c_str(), std::max<std::int64_t>(size - kSlice, 0)) == 0;
  });
}

void DiskReserve::MakeRoom(std::int64_t bytes) {
  while (FreeBytes(path_) < bytes && GiveUp()) {
  }
}

}  // namespace trainyard
