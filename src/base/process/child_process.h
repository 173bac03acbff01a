#pragma once

#include <signal.h>
#include <sys/types.h>

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard {

namespace asio = boost::asio;

/// How a process ended.
struct ExitStatus {
  int code = 0;    ///< exit code, if signal is 0
  int signal = 0;  ///< the signal that killed it; 0: it exited
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

enum class ProcessGroup {
  kInherit,  ///< the parent's: a terminal's Ctrl-C reaches it
  kNew,      ///< leads a new process group
  kSession,  ///< leads a new session (setsid)
};

struct SpawnOptions {
  std::vector<std::string> argv;  ///< argv[0] with a '/' is a path; without, it is looked up in our PATH
  std::string program;            ///< the file to run, if argv[0] does not name it
  std::vector<std::string> environment;  ///< "NAME=value"; nothing else is inherited
  std::filesystem::path directory;       ///< working directory; empty: ours
  /// (our descriptor, its number in the child). All others are closed in the child; 0, 1 and 2 are /dev/null
  /// unless they are listed.
  std::vector<std::pair<int, int>> descriptors;
  ProcessGroup group = ProcessGroup::kInherit;
  /// Whether it is killed (SIGKILL) when the thread that started it ends. Needs fork instead of vfork, which
  /// is slower: do not use it for replicas.
  bool dies_with_parent = false;
  /// With dies_with_parent only: the child's signal mask; signals that we ignore stay ignored, except
  /// SIGPIPE. For a program that shares our terminal.
  std::optional<sigset_t> signal_mask;
  /// Descriptor of the directory of the cgroup (version 2) in which it starts; -1: ours. Needs fork, as the
  /// next option does.
  int cgroup = -1;
  /// Whether its oom_score_adj is 0, whatever ours is: our protection from the kernel's OOM killer is then
  /// not inherited.
  bool usual_oom_score = false;
  /// Runs in the child instead of a program, with these arguments, variables and descriptors: what exec would
  /// reset is reset, and its result is the exit status. The caller has one thread. Where the kernel does not
  /// let the child have a command line of its own, `program` is executed.
  std::function<int(int argc, char** argv)> main{};
  std::string action = "start";  ///< an error begins with it: "start /bin/program: No such file or directory"
};

/// A process that we started, followed by its pidfd: no SIGCHLD handler, no race with a reused pid. Signals
/// are unblocked and at their defaults in the child, and its limit of descriptors is what ours was before
/// RaiseDescriptorLimit(). One thread at a time.
///
/// Lifecycle: Spawn, then Wait or WaitFor until there is an ExitStatus. The destructor of a process that was
/// not waited for kills it (SIGKILL, with its group if it leads one) and reaps it, unless it was given up
/// with Detach().
class ChildProcess {
 public:
  /// Returns once the program runs (exec succeeded). kNotFound, kPermissionDenied: exec's own reason, with
  /// the program.
  [[nodiscard]] static Result<ChildProcess> Spawn(SpawnOptions options);
  /// Owns a child that the caller forked, for code of ours that runs without exec.
  [[nodiscard]] static Result<ChildProcess> Adopt(pid_t pid);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] int pidfd() const noexcept { return pidfd_.get(); }
  [[nodiscard]] const std::optional<ExitStatus>& ended() const noexcept { return ended_; }

  /// Waits on the caller's executor until it has ended, and reaps it. Cancelling the caller leaves the
  /// process alone. The object must stay where it is meanwhile.
  asio::awaitable<Result<ExitStatus>> Wait();
  /// Like Wait, but blocks the thread; kDeadlineExceeded if the process still runs after `wait_max`.
  [[nodiscard]] Result<ExitStatus> WaitFor(std::chrono::milliseconds wait_max);

  /// Sends the signal. kFailedPrecondition if the process was reaped already.
  [[nodiscard]] Status Kill(int signal);
  /// Gives up ownership: the caller owns its pidfd and reaps it, and the destructor does not kill it.
  [[nodiscard]] UniqueFd Detach() &&;

 private:
  ChildProcess(pid_t pid, bool leads_group);
  Status OpenPidfd();
  void End() noexcept;
  /// Nullopt while it still runs.
  Result<std::optional<ExitStatus>> Reap();

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  bool leads_group_ = false;
  std::optional<ExitStatus> ended_;
};

/// fork(2), with the child in the cgroup (version 2) whose directory's descriptor is `cgroup` from the
/// beginning: moving it later would wait for every CPU. -1: our cgroup. A child that cannot be put there
/// exits with 127. The caller is single-threaded, or its child makes only async-signal-safe calls. Source:
/// clone3(2).
[[nodiscard]] pid_t ForkInGroup(int cgroup) noexcept;

}  // namespace trainyard
