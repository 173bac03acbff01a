#include "sandbox/disk_image.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "async/file.h"

namespace trainyard::replica {

namespace {

constexpr const char* kMakeFileSystem = "/sbin/mkfs.ext4";
constexpr const char* kLoopControl = "/dev/loop-control";
/// Others take the device that was free a moment ago.
constexpr int kLoopAttemptsMax = 50;

Status Run(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0], &quiet, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&quiet);
  if (error != 0) return std::unexpected(ErrnoError(error, words[0]));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return std::unexpected(FailedPrecondition(words[0] + " failed"));
}

/// A loop device over the file that ends with its last mount. errno tells what failed.
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
  // What is kept after a crash of the machine is of no interest: no journal, no reserve for root.
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
