#include "base/async/take_lock.h"

#include <sys/file.h>

#include <cerrno>
#include <thread>

namespace trainyard {

namespace {

constexpr std::chrono::milliseconds kPoll{20};  ///< flock(2) has no time limit of its own

}  // namespace

Result<bool> TakeLock(int descriptor, std::chrono::milliseconds wait_max) {
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return std::unexpected(ErrnoError(errno, "lock"));
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

}  // namespace trainyard
