#include "programs/environment/build_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/async/file.h"

namespace trainyard::environment {

namespace {

/// flock cannot be interrupted by a stop, so it is polled; builds take seconds to minutes.
constexpr std::chrono::milliseconds kLockRetryInterval{50};

/// Between two attempts.
class Waiting {
 public:
  Waiting(const std::function<void()>& on_wait, const std::stop_token& stop)
      : on_wait_(on_wait), stop_(stop) {}

  Status For(std::chrono::milliseconds pause) {
    if (stop_.stop_requested()) return std::unexpected(Error{Code::kCancelled, "stopped", {}});
    if (!std::exchange(began_, true)) on_wait_();
    std::this_thread::sleep_for(pause);
    return {};
  }

 private:
  const std::function<void()>& on_wait_;
  const std::stop_token& stop_;
  bool began_ = false;
};

Result<UniqueFd> LockHere(const std::filesystem::path& path, Waiting& waiting) {
  TY_TRY(UniqueFd file, OpenFile(path, O_RDWR | O_CREAT));
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return std::unexpected(ErrnoError(errno, "flock " + path.string()));
    TY_RETURN_IF_ERROR(waiting.For(kLockRetryInterval));
  }
  return file;
}

}  // namespace

Result<BuildLock> BuildLock::Acquire(const std::filesystem::path& path, const std::function<void()>& on_wait,
                                     const std::stop_token& stop, const std::string& machine,
                                     const ClaimLimits& limits) {
  Waiting waiting(on_wait, stop);
  TY_TRY(UniqueFd file, LockHere(path, waiting));
  const std::filesystem::path claim_path = path.string() + ".claim";
  ClaimWatch watch(claim_path, machine, limits);
  for (;;) {
    TY_TRY(std::unique_ptr<BuildClaim> claim, BuildClaim::Try(claim_path, machine, limits));
    if (claim) return BuildLock(std::move(file), std::move(claim));
    if (!watch.RemoveIfDead()) TY_RETURN_IF_ERROR(waiting.For(limits.look));
  }
}

Result<BuildLock> BuildLock::Try(const std::filesystem::path& path, const std::string& machine) {
  std::stop_source stopped;
  stopped.request_stop();
  return Acquire(path, [] {}, stopped.get_token(), machine);
}

Status BuildLock::Confirm() const {
  if (claim_->IsOurs()) return {};
  return std::unexpected(Unavailable(
      "another machine that shares the folder builds it, since this one gave no sign of life for a while"));
}

}  // namespace trainyard::environment
