#include "async/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <tuple>
#include <utility>

#include "async/descriptor_limit.h"

namespace trainyard {

namespace {

/// Owns posix_spawn's two argument objects.
struct SpawnArguments {
  SpawnArguments() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnArguments() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnArguments(const SpawnArguments&) = delete;
  SpawnArguments& operator=(const SpawnArguments&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  std::vector<UniqueFd> sources;
};

constexpr int kStandardDescriptors = 3;

Status MapDescriptors(const std::vector<std::pair<int, int>>& descriptors, SpawnArguments& arguments) {
  int highest = kStandardDescriptors - 1;
  for (const auto& [ours, theirs] : descriptors) highest = std::max(highest, theirs);
  // Copies above all targets first: no dup2 below can overwrite a source that a later one needs.
  for (const auto& [ours, theirs] : descriptors) {
    arguments.sources.emplace_back(::fcntl(ours, F_DUPFD_CLOEXEC, highest + 1));
    if (!arguments.sources.back()) return std::unexpected(ErrnoError(errno, "duplicate descriptor"));
  }
  for (int number = 0; number <= highest; ++number) {
    const auto named = [number](const auto& pair) { return pair.second == number; };
    const auto found = std::ranges::find_if(descriptors, named);
    if (found != descriptors.end()) {
      const auto index = static_cast<std::size_t>(found - descriptors.begin());
      ::posix_spawn_file_actions_adddup2(&arguments.actions, arguments.sources[index].get(), number);
    } else if (number < kStandardDescriptors) {
      const int flags = number == 0 ? O_RDONLY : O_WRONLY;
      ::posix_spawn_file_actions_addopen(&arguments.actions, number, "/dev/null", flags, 0);
    } else {
      // Whatever we have open at a number in a gap must not reach the child; closing a closed one is no
      // error.
      ::posix_spawn_file_actions_addclose(&arguments.actions, number);
    }
  }
  ::posix_spawn_file_actions_addclosefrom_np(&arguments.actions, highest + 1);
  return {};
}

void SetAttributes(ProcessGroup group, SpawnArguments& arguments) {
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  sigset_t none{};
  sigset_t all{};
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&arguments.attributes, &none);
  ::posix_spawnattr_setsigdefault(&arguments.attributes, &all);
  if (group == ProcessGroup::kNew) flags |= POSIX_SPAWN_SETPGROUP;
  if (group == ProcessGroup::kSession) flags |= POSIX_SPAWN_SETSID;
  ::posix_spawnattr_setflags(&arguments.attributes, flags);
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

int PidfdOpen(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

}  // namespace

ChildProcess::ChildProcess(pid_t pid, UniqueFd pidfd, bool leads_group, bool outlives_owner)
    : pid_(pid), pidfd_(std::move(pidfd)), leads_group_(leads_group), outlives_owner_(outlives_owner) {}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      leads_group_(other.leads_group_),
      outlives_owner_(other.outlives_owner_),
      ended_(other.ended_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  End();
  pid_ = std::exchange(other.pid_, -1);
  pidfd_ = std::move(other.pidfd_);
  leads_group_ = other.leads_group_;
  outlives_owner_ = other.outlives_owner_;
  ended_ = other.ended_;
  return *this;
}

ChildProcess::~ChildProcess() { End(); }

void ChildProcess::End() noexcept {
  if (pid_ < 0 || ended_ || outlives_owner_) return;
  ::kill(leads_group_ ? -pid_ : pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

Result<ChildProcess> ChildProcess::Spawn(SpawnOptions options) {
  if (options.argv.empty()) return std::unexpected(InvalidArgument("", "no program to run"));
  SpawnArguments arguments;
  TY_RETURN_IF_ERROR(MapDescriptors(options.descriptors, arguments));
  if (!options.directory.empty()) {
    ::posix_spawn_file_actions_addchdir_np(&arguments.actions, options.directory.c_str());
  }
  SetAttributes(options.group, arguments);
  const std::vector<char*> argv = Pointers(options.argv);
  const std::vector<char*> environment = Pointers(options.environment);
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, argv[0], &arguments.actions, &arguments.attributes, argv.data(),
                                    environment.data());
  if (failed != 0) {
    std::string what = "start " + options.argv[0];
    if (!options.directory.empty()) what += " in " + options.directory.string();
    return std::unexpected(ErrnoError(failed, what));
  }
  const bool leads_group = options.group != ProcessGroup::kInherit;
  UniqueFd pidfd(PidfdOpen(pid));
  const int pidfd_error = errno;
  ChildProcess child(pid, std::move(pidfd), leads_group, false);
  if (!child.pidfd_)
    return std::unexpected(ErrnoError(pidfd_error, "pidfd_open"));  // child's destructor ends it
  child.outlives_owner_ = options.outlives_owner;
  // It has only just begun. Best effort: a program that has ended by now needs none.
  if (const auto former = FormerDescriptorLimit()) std::ignore = LowerDescriptorLimit(pid, *former);
  return child;
}

Result<std::optional<ExitStatus>> ChildProcess::Reap() {
  if (ended_) return ended_;
  siginfo_t info{};
  int failed = 0;
  do {
    failed = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
  } while (failed != 0 && errno == EINTR);
  if (failed != 0) return std::unexpected(ErrnoError(errno, "waitid"));
  if (info.si_pid == 0) return std::optional<ExitStatus>();
  ended_ =
      info.si_code == CLD_EXITED ? ExitStatus{.code = info.si_status} : ExitStatus{.signal = info.si_status};
  return ended_;
}

asio::awaitable<Result<ExitStatus>> ChildProcess::Wait() {
  const int duplicate = ::fcntl(pidfd_.get(), F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) co_return std::unexpected(ErrnoError(errno, "duplicate pidfd"));
  const auto executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor watched(executor, duplicate);
  while (true) {
    TY_CO_TRY(const std::optional<ExitStatus> status, Reap());
    if (status) co_return *status;
    co_await watched.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  }
}

Result<ExitStatus> ChildProcess::WaitFor(std::chrono::milliseconds wait_max) {
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  while (true) {
    TY_TRY(const std::optional<ExitStatus> status, Reap());
    if (status) return *status;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return std::unexpected(Error{Code::kDeadlineExceeded, "the program still runs", ""});
    pollfd watched{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 3'600'000)));
  }
}

Status ChildProcess::Kill(int signal) {
  if (pid_ < 0 || ended_) return std::unexpected(FailedPrecondition("the process has ended"));
  if (::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0) != 0) {
    return std::unexpected(ErrnoError(errno, "kill"));
  }
  return {};
}

}  // namespace trainyard
