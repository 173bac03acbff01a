#include "programs/sandbox/namespaces/disk_image.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/process/run_program.h"
#include "base/process/variables.h"

namespace trainyard::replica {

namespace {

constexpr const char* kMakeFileSystem = "/sbin/mkfs.ext4";
constexpr const char* kLoopControl = "/dev/loop-control";
/// How often a free loop device is searched: other processes may take one that was just free.
constexpr int kLoopAttemptsMax = 50;
constexpr std::size_t kOutputBytesMax = 4096;
constexpr std::chrono::minutes kRunWaitMax{30};

Status Run(std::vector<std::string> words) {
  const std::string name = words.front();
  TY_TRY(const RunResult run,
         RunProgram({.argv = std::move(words), .environment = OwnVariables()}, kOutputBytesMax, kRunWaitMax));
  if (run.status == ExitStatus{}) return {};
  return std::unexpected(FailedPrecondition(name + " failed"));
}

/// Opens a loop device over the file that is removed with its last mount. errno tells what failed.
UniqueFd OpenLoop(int file) {
  const UniqueFd control(open(kLoopControl, O_RDWR | O_CLOEXEC));
  if (!control) return {};
  for (int attempt = 0; attempt < kLoopAttemptsMax; ++attempt) {
    const int number = ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) return {};
    UniqueFd device(open(("/dev/loop" + std::to_string(number)).c_str(), O_RDWR | O_CLOEXEC));
    if (!device) return {};
    loop_config config{};
    config.fd = static_cast<__u32>(file);
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) return device;
    if (errno != EBUSY) return {};
  }
  return {};
}

}  // namespace

bool CanMountDiskImages() {
  return geteuid() == 0 && access(kLoopControl, R_OK | W_OK) == 0 && access(kMakeFileSystem, X_OK) == 0;
}

Status MakeDiskImage(const std::string& path, std::int64_t bytes) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_RDWR | O_CREAT | O_TRUNC, 0600));
  if (ftruncate(file.get(), std::max(bytes, kDiskImageBytesMin)) != 0)
    return std::unexpected(ErrnoError(errno, "make " + path));
  // The contents do not matter after a crash of the machine, so there is no journal, and no space is reserved
  // for root.
  return Run({kMakeFileSystem, "-q", "-F", "-O", "^has_journal", "-m", "0", "-E",
              "lazy_itable_init=1,nodiscard,root_owner=0:0", path});
}

std::optional<ViewFailure> MountDiskImage(const std::string& path, const std::string& folder) {
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return ViewFailure{"open the disk's file", errno};
  const UniqueFd device = OpenLoop(file.get());
  if (!device) return ViewFailure{"attach a loop device", errno};
  const std::string name = "/proc/self/fd/" + std::to_string(device.get());
  std::array<char, 64> real{};
  if (readlink(name.c_str(), real.data(), real.size() - 1) < 0)
    return ViewFailure{"name the loop device", errno};
  if (mount(real.data(), folder.c_str(), "ext4", MS_NOSUID | MS_NODEV, nullptr) != 0)
    return ViewFailure{"mount the disk", errno};
  return std::nullopt;
}

}  // namespace trainyard::replica
