#include "programs/environment/build_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/async/file.h"
#include "base/async/random_bytes.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

constexpr std::size_t kWordsMax = 256;
/// A builder that was silent this long is dead, even by our own clock, which may differ from the file
/// server's: used by callers that do not wait.
constexpr std::chrono::hours kSilenceBeyondDoubt{1};

/// Updates the file's time. A failed update counts as none: at worst another builder starts over, and this
/// one notices.
void Beat(int file, std::chrono::milliseconds pause, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any ended;
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, stop, pause, [&stop] { return stop.stop_requested(); }))
    static_cast<void>(::futimens(file, nullptr));
}

std::string WordsIn(const fs::path& path) { return ReadFile(path, kWordsMax).value_or(""); }

/// flock cannot be interrupted by a stop, so it is polled; builds take seconds to minutes.
constexpr std::chrono::milliseconds kLockRetryInterval{50};

/// The wait between two attempts.
class RetryWait {
 public:
  RetryWait(const std::function<void()>& on_wait, const std::stop_token& stop)
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

Result<UniqueFd> LockHere(const std::filesystem::path& path, RetryWait& waiting) {
  TY_TRY(UniqueFd file, OpenFile(path, O_RDWR | O_CREAT));
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return std::unexpected(ErrnoError(errno, "flock " + path.string()));
    TY_RETURN_IF_ERROR(waiting.For(kLockRetryInterval));
  }
  return file;
}

}  // namespace

Result<std::unique_ptr<BuildClaim>> BuildClaim::Try(const fs::path& path, const std::string& machine,
                                                    const ClaimLimits& limits) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file && errno == EEXIST) return nullptr;
  if (!file) return std::unexpected(ErrnoError(errno, "create " + path.string()));
  const std::string words =
      machine + " " + std::to_string(::getpid()) + " " + std::to_string(RandomBytes<std::uint64_t>()) + "\n";
  if (Status written = WriteAll(file.get(), words); !written) {
    ::unlink(path.c_str());
    return std::unexpected(std::move(written).error());
  }
  return std::unique_ptr<BuildClaim>(new BuildClaim(path, words, std::move(file), limits.beat));
}

BuildClaim::BuildClaim(fs::path path, std::string words, UniqueFd file, std::chrono::milliseconds beat)
    : path_(std::move(path)),
      words_(std::move(words)),
      file_(std::move(file)),
      beats_(
          [descriptor = file_.get(), beat](const std::stop_token& stop) { Beat(descriptor, beat, stop); }) {}

BuildClaim::~BuildClaim() {
  if (IsOurs()) ::unlink(path_.c_str());
}

bool BuildClaim::IsOurs() const { return WordsIn(path_) == words_; }

bool ClaimWatch::RemoveIfDead() {
  const std::optional<Sight> sight = Look();
  if (!sight) return true;
  if (sight->words.starts_with(machine_ + " ")) return Remove(sight->words);
  const auto now = std::chrono::steady_clock::now();
  if (sight != seen_) {
    seen_ = sight;
    since_ = now;
  }
  const auto age = std::chrono::system_clock::now().time_since_epoch() - sight->changed;
  if (now - since_ < limits_.silence_max && age < kSilenceBeyondDoubt) return false;
  return Remove(sight->words);
}

/// The file is opened again for each look, so that a network file system asks its server.
std::optional<ClaimWatch::Sight> ClaimWatch::Look() const {
  const Result<UniqueFd> file = OpenFile(path_, O_RDONLY);
  struct stat status{};
  if (!file || ::fstat(file->get(), &status) != 0) return std::nullopt;
  return Sight{.words = WordsIn(path_),
               .changed = std::chrono::seconds(status.st_mtim.tv_sec) + nanoseconds(status.st_mtim.tv_nsec)};
}

/// Several watchers may find it dead at once, and one of them may already have made a new claim: so the
/// removed file is checked, and put back if it is another one.
bool ClaimWatch::Remove(const std::string& words) const {
  const fs::path taken = path_.string() + "." + std::to_string(RandomBytes<std::uint64_t>());
  if (::rename(path_.c_str(), taken.c_str()) != 0) return errno == ENOENT;
  const bool is_meant = WordsIn(taken) == words;
  if (!is_meant)
    static_cast<void>(::link(taken.c_str(), path_.c_str()));  // its builder checks before it ends
  ::unlink(taken.c_str());
  return is_meant;
}

Result<BuildLock> BuildLock::Acquire(const std::filesystem::path& path, const std::function<void()>& on_wait,
                                     const std::stop_token& stop, const std::string& machine,
                                     const ClaimLimits& limits) {
  RetryWait waiting(on_wait, stop);
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
  return std::unexpected(
      Unavailable("another machine that shares the directory builds it now, because this one did not respond "
                  "for a while"));
}

Result<RuntimeUse> RuntimeUse::Begin(const std::filesystem::path& environments_dir,
                                     std::string_view runtime_version) {
  TY_TRY(const RuntimeVersion runtime, LoadRuntimeVersion(environments_dir, runtime_version));
  const std::filesystem::path folder = Layout{environments_dir}.Runtime(runtime);
  TY_RETURN_IF_ERROR(MakeFolders(folder.parent_path()));
  TY_TRY(UniqueFd file, OpenFile(Layout::UseLock(folder), O_RDWR | O_CREAT));
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return std::unexpected(ErrnoError(errno, "flock " + folder.string() + ".use"));
    return std::unexpected(Unavailable("runtime version " + runtime.version + " is being removed"));
  }
  ::futimens(file.get(), nullptr);  // best effort: the time is only shown
  return RuntimeUse(std::move(file));
}

Result<LayerUse> LayerUse::Begin(const EnvironmentRequest& request) {
  const Layout layout{request.environments_dir};
  TY_TRY(const RuntimeVersion runtime, LoadRuntimeVersion(layout.root, request.runtime_version));
  const std::filesystem::path folder = layout.Layer(runtime, request.packages);
  TY_RETURN_IF_ERROR(MakeFolders(folder.parent_path()));
  TY_TRY(UniqueFd file, OpenFile(Layout::UseLock(folder), O_RDWR | O_CREAT));
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return std::unexpected(ErrnoError(errno, "flock " + folder.string() + ".use"));
    return std::unexpected(Unavailable("the packages' layer is being removed"));
  }
  ::futimens(file.get(), nullptr);  // best effort: without it the layer is removed sooner, and built again
  return LayerUse(std::move(file));
}

}  // namespace trainyard::environment
