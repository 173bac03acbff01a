#include "environment/build_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "async/file.h"

namespace trainyard::environment {

namespace {
/// flock cannot be interrupted by a stop, so it is polled; builds take seconds to minutes.
constexpr std::chrono::milliseconds kLockRetryInterval{50};
}  // namespace

Result<BuildLock> BuildLock::Acquire(const std::filesystem::path& path, const std::function<void()>& on_wait,
                                     const std::stop_token& stop) {
  TY_TRY(UniqueFd file, OpenFile(path, O_RDWR | O_CREAT));
  bool waiting = false;
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return std::unexpected(ErrnoError(errno, "flock " + path.string()));
    if (stop.stop_requested()) return std::unexpected(Error{Code::kCancelled, "stopped", {}});
    if (!std::exchange(waiting, true)) on_wait();
    std::this_thread::sleep_for(kLockRetryInterval);
  }
  return BuildLock(std::move(file));
}

}  // namespace trainyard::environment
