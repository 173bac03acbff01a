#include "engine/local/local_engine.h"

#include <sys/wait.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "async/diagnostics.h"
#include "async/on_pool.h"
#include "engine/local/attempt_files.h"
#include "engine/local/spawn_supervisor.h"
#include "runtimes/engine_container.h"

namespace trainyard::engine {

namespace {

namespace asio = boost::asio;
using replica::AttemptDir;
using std::chrono::milliseconds;

/// Between the supervisor's end and the kernel having ended the rest.
constexpr milliseconds kLockPause{5};
/// A supervisor that is killed takes its replica with it; after this all that is left is killed one by one.
constexpr milliseconds kKillWait{5'000};
constexpr milliseconds kKillWaitMax{15'000};
/// Between two attempts to reach a container engine that is not there.
constexpr milliseconds kContainerPause{5'000};

AttemptDir Dir(const Manifest& manifest) { return {manifest.places().attempt_dir()}; }

/// True once nothing holds the lock; false after `wait_max`.
asio::awaitable<Result<bool>> WaitUntilFree(AttemptDir dir, milliseconds wait_max) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  for (;;) {
    TY_CO_TRY(const bool locked, replica::IsLocked(dir));
    if (!locked) co_return true;
    if (std::chrono::steady_clock::now() >= deadline) co_return false;
    timer.expires_after(kLockPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace

LocalEngine::LocalEngine(asio::any_io_executor loop, Options options)
    : loop_(loop), options_(std::move(options)), tasks_(std::move(loop)) {}

asio::awaitable<Status> LocalEngine::Start(Manifest manifest) {
  std::vector<std::string> argv = options_.supervisor_arguments;
  argv.insert(argv.begin(), "trainyard");
  argv.push_back(manifest.places().attempt_dir());
  auto start = [program = options_.supervisor_program, argv = std::move(argv),
                manifest]() -> Result<UniqueFd> {
    const AttemptDir dir = Dir(manifest);
    TY_TRY(const UniqueFd lock, MakeAttempt(dir, manifest));
    return SpawnSupervisor({.program = program, .argv = argv, .dir = dir, .lock = lock.get()});
  };
  TY_CO_TRY(UniqueFd pidfd, co_await OnPool(files_, std::move(start)));
  StartWatching(manifest, std::move(pidfd));
  co_return Status();
}

/// What an engine was to run for an attempt that is not alive: most have nothing, and need not wait for it.
asio::awaitable<Status> LocalEngine::RemoveContainers(AttemptDir dir) {
  if (!replica::HasNotedContainers(dir)) co_return Status();
  auto remove = [dir] { return replica::RemoveNotedContainers(dir); };
  co_return co_await OnPool(containers_, std::move(remove));
}

/// Tries until no container of the attempt can run any more.
asio::awaitable<void> LocalEngine::RemoveContainersAtLast(AttemptDir dir) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  std::string said;
  for (;;) {
    const Status removed = co_await RemoveContainers(dir);
    if (removed) co_return;
    if (removed.error().message != said)
      Diagnose(DiagnosticLevel::kError, dir.path + " may still have a container: " + removed.error().message);
    said = removed.error().message;
    timer.expires_after(kContainerPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<Result<Liveness>> LocalEngine::Inspect(Manifest manifest) {
  auto inspect = [dir = Dir(manifest)] { return InspectAttempt(dir); };
  TY_CO_TRY(const Liveness liveness, co_await OnPool(files_, std::move(inspect)));
  if (liveness == Liveness::kAlive && !watched_.contains(manifest.attempt_id())) {
    auto open = [dir = Dir(manifest)] { return OpenSupervisor(dir); };
    UniqueFd pidfd = co_await OnPool(files_, std::move(open));
    StartWatching(manifest, std::move(pidfd));
  }
  // What an engine runs for it is no process of ours: as long as it may run, the attempt is not over.
  if (liveness == Liveness::kEnded || liveness == Liveness::kLost)
    TY_CO_RETURN_IF_ERROR(co_await RemoveContainers(Dir(manifest)));
  co_return liveness;
}

asio::awaitable<Result<Engine::Remains>> LocalEngine::Collect(Manifest manifest, std::int64_t from_line) {
  auto collect = [dir = Dir(manifest), from_line] { return CollectRemains(dir, from_line); };
  co_return co_await OnPool(files_, std::move(collect));
}

asio::awaitable<Status> LocalEngine::Kill(Manifest manifest) {
  const AttemptDir dir = Dir(manifest);
  auto kill_supervisor = [dir] { KillSupervisor(dir); };
  co_await OnPool(files_, std::move(kill_supervisor));
  TY_CO_TRY(const bool killed, co_await WaitUntilFree(dir, kKillWait));
  if (killed) co_return co_await RemoveContainers(dir);
  auto kill_all = [dir] { KillLockHolders(dir); };
  co_await OnPool(files_, std::move(kill_all));
  TY_CO_TRY(const bool freed, co_await WaitUntilFree(dir, kKillWaitMax));
  if (freed) co_return co_await RemoveContainers(dir);
  const Error stuck{
      Code::kDeadlineExceeded, "the replica's processes do not end although they were killed", {}};
  co_return std::unexpected(stuck);
}

asio::awaitable<Status> LocalEngine::Remove(Manifest manifest) {
  const AttemptDir dir = Dir(manifest);
  TY_CO_TRY(const bool alive, replica::IsLocked(dir));
  if (!alive) TY_CO_RETURN_IF_ERROR(co_await RemoveContainers(dir));
  auto remove = [dir] { return RemoveAttempt(dir); };
  co_return co_await OnPool(files_, std::move(remove));
}

void LocalEngine::StartWatching(const Manifest& manifest, UniqueFd pidfd) {
  if (!watched_.insert(manifest.attempt_id()).second) return;
  tasks_.Spawn(Watch(manifest.attempt_id(), Dir(manifest), std::move(pidfd)));
}

/// Until the supervisor has ended and all of its attempt. Without a pidfd the supervisor is gone already.
asio::awaitable<void> LocalEngine::Watch(std::string attempt_id, AttemptDir dir, UniqueFd pidfd) {
  if (pidfd) {
    asio::posix::stream_descriptor descriptor(loop_, pidfd.Release());
    co_await descriptor.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    siginfo_t info{};
    waitid(P_PIDFD, static_cast<id_t>(descriptor.native_handle()), &info,
           WEXITED | WNOHANG);  // fails for an adopted one
  }
  while (!(co_await WaitUntilFree(dir, kKillWaitMax)).value_or(true)) {
  }
  co_await RemoveContainersAtLast(dir);
  watched_.erase(attempt_id);
  if (on_gone_) on_gone_(attempt_id);
}

}  // namespace trainyard::engine
