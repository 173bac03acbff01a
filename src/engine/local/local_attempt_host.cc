#include "engine/local/local_attempt_host.h"

#include <sys/wait.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "engine/local/attempt_files.h"
#include "engine/local/google_front_files.h"
#include "engine/local/leftovers.h"
#include "engine/local/strays.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/daemon_container.h"

namespace trainyard::engine {

namespace {

namespace asio = boost::asio;
using replica::AttemptDir;
using std::chrono::milliseconds;

/// The pause between two checks, after the supervisor's end, whether the kernel has ended the rest.
constexpr milliseconds kLockPause{5};
/// A killed supervisor's replica ends with it; processes that live on after this time are killed one by one.
constexpr milliseconds kKillWait{5'000};
constexpr milliseconds kKillWaitMax{15'000};
/// The pause between two calls to a container daemon that does not answer.
constexpr milliseconds kContainerPause{5'000};
/// The pause between two looks at an attempt of the former data directory, and how long callers wait for its
/// end.
constexpr milliseconds kFormerPause{500};
constexpr milliseconds kFormerWaitMax{10'000};
constexpr const char* kStuckMessage = "the replica's processes do not end although they were killed";

}  // namespace

LocalAttemptHost::LocalAttemptHost(asio::any_io_executor loop, const NodeSettings& settings,
                                   SupervisorStarter& starter, Options options)
    : loop_(loop),
      settings_(settings),
      starter_(starter),
      options_(std::move(options)),
      tasks_(std::move(loop)) {}

/// kUnavailable if an attempt of the same job lives under the former data directory; first waits a while for
/// its end.
asio::awaitable<Status> LocalAttemptHost::CheckFormer(std::string attempt_id) {
  if (options_.former_attempts_dir.empty()) co_return Status();
  asio::steady_timer timer(loop_);
  const auto deadline = std::chrono::steady_clock::now() + kFormerWaitMax;
  for (;;) {
    auto look = [folder = options_.former_attempts_dir, attempt_id] {
      return FindFormerAttempt(folder, attempt_id);
    };
    const std::optional<std::string> former = co_await OnPool(files_, std::move(look));
    if (!former) co_return Status();
    if (std::chrono::steady_clock::now() >= deadline) {
      co_return std::unexpected(Unavailable(FormerAttemptReason(options_.former_attempts_dir, *former)));
    }
    timer.expires_after(kFormerPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<Status> LocalAttemptHost::Start(Manifest manifest, Slot slot) {
  TY_CO_RETURN_IF_ERROR(co_await CheckFormer(manifest.attempt_id()));
  AddNodePart(settings_, slot, manifest);
  if (manifest.program().has_container() &&
      manifest.program().container().runtime_kind() == Manifest::CONTAINER_RUNTIME_UNSPECIFIED)
    co_return std::unexpected(Unavailable("nothing runs containers on this machine now"));
  std::vector<std::string> argv = options_.supervisor_arguments;
  argv.insert(argv.begin(), "trainyard");
  argv.push_back(manifest.places().attempt_dir());
  auto start = [&starter = starter_, program = options_.supervisor_program, argv = std::move(argv),
                name = replica::InstallationName(settings_.attempts_dir) + "-" + manifest.attempt_id(),
                memory_max = settings_.replica_memory_bytes, manifest]() mutable -> Result<UniqueFd> {
    TY_RETURN_IF_ERROR(CompleteGoogleFrontFiles());
    TY_TRY(const replica::CgroupHome home, starter.FindHome());
    AddCgroupPart(memory_max, home, manifest);
    const AttemptDir dir{manifest.places().attempt_dir()};
    TY_TRY(const UniqueFd secrets, replica::TakeSecretValues(manifest));
    TY_TRY(const UniqueFd lock, MakeAttempt(dir, manifest));
    return starter.Start({.name = name,
                          .program = program,
                          .argv = argv,
                          .dir = dir,
                          .lock = lock.get(),
                          .secrets = secrets.get()});
  };
  TY_CO_TRY(UniqueFd pidfd, co_await OnPool(files_, std::move(start)));
  StartWatching(manifest.attempt_id(), std::move(pidfd));
  co_return Status();
}

/// True once the whole attempt has ended; false after `wait_max`. Kills processes that live on of an attempt
/// whose lock is free.
asio::awaitable<Result<bool>> LocalAttemptHost::WaitUntilOver(AttemptDir dir, milliseconds wait_max) {
  asio::steady_timer timer(loop_);
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  for (;;) {
    auto look = [dir] { return IsOver(dir); };
    TY_CO_TRY(const bool over, co_await OnPool(files_, std::move(look)));
    if (over) co_return true;
    if (std::chrono::steady_clock::now() >= deadline) co_return false;
    timer.expires_after(kLockPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

/// Removes a daemon's containers of an attempt that is not alive. Most attempts have none and need not wait.
asio::awaitable<Status> LocalAttemptHost::RemoveContainers(AttemptDir dir) {
  auto look = [dir] { return replica::HasNotedContainers(dir); };
  if (!co_await OnPool(files_, std::move(look))) co_return Status();
  auto remove = [dir] { return replica::RemoveNotedContainers(dir); };
  co_return co_await OnPool(containers_, std::move(remove));
}

/// Tries again until no container of the attempt can run any more.
asio::awaitable<void> LocalAttemptHost::RemoveContainersUntilDone(AttemptDir dir) {
  asio::steady_timer timer(loop_);
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

asio::awaitable<Inspection> LocalAttemptHost::Inspect(AttemptRef attempt) {
  const AttemptDir dir = DirOf(attempt.id);
  auto inspect = [dir] { return InspectAttempt(dir); };
  const Result<AttemptState> state = co_await OnPool(files_, std::move(inspect));
  if (!state) co_return Inspection{AttemptState::kUnknown, state.error().message};
  if (*state == AttemptState::kAlive && !watched_.contains(attempt.id)) {
    auto open = [dir] { return OpenSupervisor(dir); };
    UniqueFd pidfd = co_await OnPool(files_, std::move(open));
    StartWatching(attempt.id, std::move(pidfd));
  }
  if (*state == AttemptState::kAbsent) {
    const Status former = co_await CheckFormer(attempt.id);
    if (!former) co_return Inspection{AttemptState::kUnknown, former.error().message};
  }
  if (*state == AttemptState::kAlive) {
    auto read = [dir] { return replica::ReadExit(dir).value_or(std::nullopt).has_value(); };
    const bool has_exit = co_await OnPool(files_, std::move(read));
    co_return Inspection{.state = *state, .has_exit = has_exit};
  }
  if (*state != AttemptState::kEnded && *state != AttemptState::kLost) co_return Inspection{*state};
  // No process of it may live when the next attempt starts.
  const Result<bool> over = co_await WaitUntilOver(dir, kKillWait);
  if (!over) co_return Inspection{AttemptState::kUnknown, over.error().message};
  if (!*over) co_return Inspection{AttemptState::kUnknown, kStuckMessage};
  // A daemon's container is not our process: while it may run, the attempt is not over.
  const Status removed = co_await RemoveContainers(dir);
  if (!removed) co_return Inspection{AttemptState::kUnknown, removed.error().message};
  co_return Inspection{*state};
}

asio::awaitable<Result<std::vector<AttemptRef>>> LocalAttemptHost::List() {
  auto list = [attempts_dir = settings_.attempts_dir] { return ListAttempts(attempts_dir); };
  co_return co_await OnPool(files_, std::move(list));
}

asio::awaitable<Result<AttemptHost::Holding>> LocalAttemptHost::HoldingOf(AttemptRef attempt) {
  auto read = [dir = DirOf(attempt.id)] { return replica::ReadManifest(dir); };
  TY_CO_TRY(const Manifest manifest, co_await OnPool(files_, std::move(read)));
  co_return Holding{.job_id = manifest.job_id(), .devices = manifest.devices(), .token = manifest.token()};
}

asio::awaitable<Result<AttemptHost::Remains>> LocalAttemptHost::Collect(AttemptRef attempt,
                                                                        std::int64_t from_line) {
  auto collect = [dir = DirOf(attempt.id), from_line] { return CollectRemains(dir, from_line); };
  co_return co_await OnPool(files_, std::move(collect));
}

asio::awaitable<Status> LocalAttemptHost::Kill(AttemptRef attempt) {
  const AttemptDir dir = DirOf(attempt.id);
  auto kill_supervisor = [dir] { KillSupervisor(dir); };
  co_await OnPool(files_, std::move(kill_supervisor));
  TY_CO_TRY(const bool killed, co_await WaitUntilOver(dir, kKillWait));
  if (killed) co_return co_await RemoveContainers(dir);
  auto kill_all = [dir] { KillLockHolders(dir); };
  co_await OnPool(files_, std::move(kill_all));
  TY_CO_TRY(const bool freed, co_await WaitUntilOver(dir, kKillWaitMax));
  if (freed) co_return co_await RemoveContainers(dir);
  const Error stuck{Code::kDeadlineExceeded, kStuckMessage, {}};
  co_return std::unexpected(stuck);
}

asio::awaitable<Status> LocalAttemptHost::Forget(AttemptRef attempt) {
  const AttemptDir dir = DirOf(attempt.id);
  auto look = [dir] { return IsHeld(dir); };
  TY_CO_TRY(const bool alive, co_await OnPool(files_, std::move(look)));
  if (!alive) TY_CO_RETURN_IF_ERROR(co_await RemoveContainers(dir));
  auto remove = [dir] { return RemoveAttempt(dir); };
  co_return co_await OnPool(files_, std::move(remove));
}

asio::awaitable<Result<shell::Terminal>> LocalAttemptHost::OpenShell(AttemptRef attempt,
                                                                     shell::TerminalSize size) {
  co_return shell::OpenTerminal(options_.supervisor_program, DirOf(attempt.id).path, size);
}

void LocalAttemptHost::StartWatching(const std::string& attempt_id, UniqueFd pidfd) {
  if (!watched_.insert(attempt_id).second) return;
  tasks_.Spawn(Watch(attempt_id, std::move(pidfd)));
}

/// Waits until the supervisor and all other processes of the attempt have ended. Without a pidfd the
/// supervisor has already ended, or cannot be found.
asio::awaitable<void> LocalAttemptHost::Watch(std::string attempt_id, UniqueFd pidfd) {
  const AttemptDir dir = DirOf(attempt_id);
  for (bool over = false; !over;) {
    if (pidfd) {
      asio::posix::stream_descriptor descriptor(loop_, pidfd.Release());
      co_await descriptor.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
      siginfo_t info{};
      waitid(P_PIDFD, static_cast<id_t>(descriptor.native_handle()), &info,
             WEXITED | WNOHANG);  // fails for an adopted one
    }
    const Result<bool> looked = co_await WaitUntilOver(dir, kKillWaitMax);
    over = looked.value_or(false);
    if (over) break;
    if (!looked) {  // an error does not prove its end
      asio::steady_timer timer(loop_, kFormerPause);
      co_await timer.async_wait(asio::use_awaitable);
    }
    auto open = [dir] { return OpenSupervisor(dir); };
    pidfd = co_await OnPool(files_, std::move(open));
  }
  co_await RemoveContainersUntilDone(dir);
  watched_.erase(attempt_id);
  if (on_gone_) on_gone_(attempt_id);
}

}  // namespace trainyard::engine
