#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <tuple>
#include <utility>

#include "base/process/child_process.h"
#include "base/process/command_line.h"
#include "base/process/descriptor_limit.h"
#include "base/process/kernel_calls.h"
#include "base/process/variables.h"

// The sanitizers' check, which otherwise runs at exit; absent without them.
extern "C" void __lsan_do_leak_check() __attribute__((weak));  // NOLINT(bugprone-reserved-identifier)

/// ChildProcess::Spawn, by posix_spawn, which shares the memory until exec (vfork): the server may be large,
/// and a job's start must not wait for a copy of its page tables. Only what posix_spawn cannot do forks.
namespace trainyard {

namespace {

constexpr int kStandardDescriptors = 3;

/// A descriptor for the child: a copy above all numbers that the child will have, so that no dup2 overwrites
/// a source that a later one needs.
struct Copy {
  UniqueFd source;
  int target;
};

struct Descriptors {
  std::vector<Copy> copies;
  int highest = kStandardDescriptors - 1;

  /// Null: no copy has this target.
  [[nodiscard]] const Copy* Find(int target) const {
    const auto found = std::ranges::find(copies, target, &Copy::target);
    return found == copies.end() ? nullptr : &*found;
  }
};

Result<Descriptors> CopyDescriptors(const std::vector<std::pair<int, int>>& wanted) {
  Descriptors descriptors;
  for (const auto& [ours, theirs] : wanted) descriptors.highest = std::max(descriptors.highest, theirs);
  for (const auto& [ours, theirs] : wanted) {
    UniqueFd copy(::fcntl(ours, F_DUPFD_CLOEXEC, descriptors.highest + 1));
    if (!copy) return std::unexpected(ErrnoError(errno, "duplicate descriptor"));
    descriptors.copies.push_back({std::move(copy), theirs});
  }
  return descriptors;
}

constexpr int NullFlags(int number) { return number == 0 ? O_RDONLY : O_WRONLY; }

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
};

void AddDescriptors(const Descriptors& descriptors, posix_spawn_file_actions_t& actions) {
  for (int number = 0; number <= descriptors.highest; ++number) {
    if (const Copy* copy = descriptors.Find(number); copy != nullptr) {
      ::posix_spawn_file_actions_adddup2(&actions, copy->source.get(), number);
    } else if (number < kStandardDescriptors) {
      ::posix_spawn_file_actions_addopen(&actions, number, "/dev/null", NullFlags(number), 0);
    } else {
      // Descriptors that we have open between the targets must not reach the child; closing a closed one is
      // not an error.
      ::posix_spawn_file_actions_addclose(&actions, number);
    }
  }
  ::posix_spawn_file_actions_addclosefrom_np(&actions, descriptors.highest + 1);
}

void SetAttributes(ProcessGroup group, posix_spawnattr_t& attributes) {
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  sigset_t none{};
  sigset_t all{};
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  if (group == ProcessGroup::kNew) flags |= POSIX_SPAWN_SETPGROUP;
  if (group == ProcessGroup::kSession) flags |= POSIX_SPAWN_SETSID;
  ::posix_spawnattr_setflags(&attributes, flags);
}

/// exec's arguments, made before a fork, because nothing may be allocated after it.
struct Program {
  explicit Program(SpawnOptions& options)
      : file(options.program.empty() ? options.argv[0].c_str() : options.program.c_str()),
        argv(Pointers(options.argv)),
        environment(Pointers(options.environment)) {}

  const char* file;
  std::vector<char*> argv;
  std::vector<char*> environment;
};

/// The new process's id, or errno.
std::expected<pid_t, int> PosixSpawn(const SpawnOptions& options, const Program& program,
                                     const Descriptors& descriptors) {
  SpawnArguments arguments;
  AddDescriptors(descriptors, arguments.actions);
  if (!options.directory.empty())
    ::posix_spawn_file_actions_addchdir_np(&arguments.actions, options.directory.c_str());
  SetAttributes(options.group, arguments.attributes);
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, program.file, &arguments.actions, &arguments.attributes,
                                    program.argv.data(), program.environment.data());
  if (failed != 0) return std::unexpected(failed);
  return pid;
}

/// The same steps as AddDescriptors, in the child. Higher descriptors are closed by exec, even if the kernel
/// is older than 5.11 and rejects the last call, because we open everything with O_CLOEXEC.
bool PutDescriptors(const Descriptors& descriptors) {
  for (int number = 0; number <= descriptors.highest; ++number) {
    if (const Copy* copy = descriptors.Find(number); copy != nullptr) {
      if (::dup2(copy->source.get(), number) != number) return false;
    } else if (::close(number); number < kStandardDescriptors) {
      if (::open("/dev/null", NullFlags(number)) != number) return false;
    }
  }
  constexpr unsigned kCloseRangeCloexec = 1U << 2;
  ::syscall(SYS_close_range, static_cast<unsigned>(descriptors.highest + 1), UINT_MAX, kCloseRangeCloexec);
  return true;
}

void SetSignals(const std::optional<sigset_t>& mask) {
  ::signal(SIGPIPE, SIG_DFL);
  for (int number = 1; number < NSIG && !mask; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, mask ? &*mask : &none, nullptr);
}

/// Raising the score needs no privileges. Best effort: a kernel without the file has no scores.
void ResetOomScore() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(file, "0", 1);
  ::close(file);
}

/// Runs another command of this program, in the child of a process with one thread. It returns only if it
/// cannot do so.
void Become(const SpawnOptions& options, const Program& program, int highest, int failure) {
  if (!SetCommandLine(options.argv, options.environment)) return;
  ::environ = const_cast<char**>(program.environment.data());
  ::close(failure);
  ::syscall(SYS_close_range, static_cast<unsigned>(highest + 1), UINT_MAX, 0);
  const int status =
      options.main(static_cast<int>(options.argv.size()), const_cast<char**>(program.argv.data()));
  std::fflush(nullptr);
  if (__lsan_do_leak_check != nullptr) __lsan_do_leak_check();
  // Without the destructors of static objects, which would copy the parent's pages to write to them.
  ::_exit(status);
}

/// In the child: only async-signal-safe calls, unless it has a `main`. Writes errno to `failure` if it cannot
/// run the program.
[[noreturn]] void Exec(const SpawnOptions& options, const Program& program, const Descriptors& descriptors,
                       pid_t parent, int failure) {
  if (options.group == ProcessGroup::kNew) ::setpgid(0, 0);
  if (options.group == ProcessGroup::kSession) ::setsid();
  if (options.dies_with_parent) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (options.usual_oom_score) ResetOomScore();
  SetSignals(options.signal_mask);
  const bool has_parent = !options.dies_with_parent || ::getppid() == parent;
  const bool ready = has_parent && PutDescriptors(descriptors) &&
                     (options.directory.empty() || ::chdir(options.directory.c_str()) == 0);
  if (ready && options.main) Become(options, program, descriptors.highest, failure);
  if (ready) ::execvpe(program.file, program.argv.data(), program.environment.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

/// Like PosixSpawn, which cannot request a signal at the parent's end (PR_SET_PDEATHSIG) or start the child
/// in a cgroup.
std::expected<pid_t, int> Fork(const SpawnOptions& options, const Program& program,
                               const Descriptors& descriptors) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(errno);
  const UniqueFd read_end(ends[0]);
  UniqueFd low_end(ends[1]);
  UniqueFd write_end(::fcntl(low_end.get(), F_DUPFD_CLOEXEC, descriptors.highest + 1));
  if (!write_end) return std::unexpected(errno);
  low_end.Reset();
  const pid_t parent = ::getpid();
  if (options.main) std::ignore = KnowsMemoryLayout();
  const pid_t child = ForkInGroup(options.cgroup);
  if (child < 0) return std::unexpected(errno);
  if (child == 0) Exec(options, program, descriptors, parent, write_end.get());
  write_end.Reset();
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(read_end.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof error) return child;
  WaitForChild(child);
  return std::unexpected(error);
}

}  // namespace

Result<ChildProcess> ChildProcess::Spawn(SpawnOptions options) {
  if (options.argv.empty()) return std::unexpected(InvalidArgument("", "no program to run"));
  TY_TRY(const Descriptors descriptors, CopyDescriptors(options.descriptors));
  const Program program(options);
  const bool forks =
      options.dies_with_parent || options.cgroup >= 0 || options.usual_oom_score || options.main;
  const auto pid = forks ? Fork(options, program, descriptors) : PosixSpawn(options, program, descriptors);
  if (!pid) {
    std::string what = options.action + " " + program.file;
    if (!options.directory.empty()) what += " in " + options.directory.string();
    return std::unexpected(ErrnoError(pid.error(), what));
  }
  ChildProcess child(*pid, options.group != ProcessGroup::kInherit);
  TY_RETURN_IF_ERROR(child.OpenPidfd());  // else child's destructor ends it
  // The program has only just started. Best effort: a program that has ended already needs no limit.
  if (const auto former = FormerDescriptorLimit()) std::ignore = LowerDescriptorLimit(*pid, *former);
  return child;
}

}  // namespace trainyard
