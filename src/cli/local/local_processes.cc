#include "cli/local/local_processes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include "base/process/child_process.h"
#include "base/process/variables.h"

namespace trainyard::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The wait between SIGTERM and SIGKILL.
constexpr milliseconds kStopGrace{5'000};
constexpr milliseconds kWaitMax{1'000};
constexpr milliseconds kLookAgain{100};  ///< interval for finding new orphans
constexpr milliseconds kKillAgain{10};
constexpr int kSignalBase = 128;  ///< a shell's exit status for a signal

sigset_t WatchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  return set;
}

/// Shares this process's terminal and its group, so that Ctrl-C reaches it.
Result<pid_t> Start(const LocalProcess& process, const sigset_t& mask) {
  SpawnOptions options{.argv = process.argv,
                       .environment = OwnVariables({process.variables.begin(), process.variables.end()}),
                       .directory = process.directory,
                       .dies_with_parent = true,
                       .signal_mask = mask,
                       .action = "cannot run"};
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) >= 0) options.descriptors.emplace_back(number, number);
  TY_TRY(ChildProcess child, ChildProcess::Spawn(std::move(options)));
  const pid_t pid = child.pid();
  static_cast<void>(std::move(child).Detach());  // the group reaps all children alike
  return pid;
}

/// Includes orphaned descendants: this process is a subreaper.
std::vector<pid_t> Children() {
  std::ifstream list("/proc/thread-self/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; list >> child;) children.push_back(child);
  return children;
}

void SignalChildren(int number) {
  for (const pid_t child : Children()) ::kill(child, number);
}

std::string Describe(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

int ExitStatusOf(int status) {
  return WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

class Group {
 public:
  explicit Group(const std::function<void(std::string_view)>& remark) : remark_(remark) {
    const sigset_t watched = WatchedSignals();
    ::sigprocmask(SIG_BLOCK, &watched, &before_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    while (Reap()) {
      SignalChildren(SIGKILL);
      Wait(kKillAgain);
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  Status Launch(const LocalProcess& process) {
    TY_TRY(primary_, Start(process, before_));
    names_[primary_] = process.name;
    return {};
  }

  int Run() {
    while (Reap() && !primary_status_ && signal_ == 0) Wait(kWaitMax);
    const steady_clock::time_point deadline = steady_clock::now() + kStopGrace;
    names_.clear();  // from here on this process ends them
    while (Reap() && signals_ < 2 && steady_clock::now() < deadline) {
      Stop();
      Wait(kLookAgain);
    }
    if (signal_ != 0) return kSignalBase + signal_;
    return primary_status_ ? ExitStatusOf(*primary_status_) : 1;
  }

 private:
  /// Sends SIGTERM to those that have not got it yet, orphans included. The primary of an interrupted run
  /// gets time to save: a Ctrl-C on the terminal has reached it already, a kill(1) has reached only this
  /// process.
  void Stop() {
    for (const pid_t child : Children()) {
      if (!asked_.insert(child).second) continue;
      if (signal_ == 0 || child != primary_) ::kill(child, SIGTERM);
      if (signal_ != 0 && child == primary_ && !from_terminal_) ::kill(child, signal_);
    }
  }

  void Wait(milliseconds at_most) {
    const sigset_t watched = WatchedSignals();
    const timespec timeout{.tv_sec = at_most.count() / 1000, .tv_nsec = at_most.count() % 1000 * 1'000'000};
    siginfo_t info{};
    const int number = ::sigtimedwait(&watched, &info, &timeout);
    if (number <= 0 || number == SIGCHLD) return;
    ++signals_;
    if (signal_ != 0) return;
    signal_ = number;
    from_terminal_ = info.si_code == SI_KERNEL;
  }

  /// False if no process is left.
  bool Reap() {
    for (;;) {
      int status = 0;
      const pid_t ended = ::waitpid(-1, &status, WNOHANG);
      if (ended < 0 && errno == EINTR) continue;
      if (ended <= 0) return ended == 0;
      if (ended == primary_) primary_status_ = status;
      const auto name = names_.find(ended);
      if (name != names_.end() && ended != primary_ && status != 0)
        remark_(name->second + " " + Describe(status));
    }
  }

  const std::function<void(std::string_view)>& remark_;
  sigset_t before_{};
  std::map<pid_t, std::string> names_;
  std::set<pid_t> asked_;
  pid_t primary_ = -1;
  std::optional<int> primary_status_;
  int signal_ = 0;   ///< the first signal to stop
  int signals_ = 0;  ///< number of signals to stop
  bool from_terminal_ = false;
};

}  // namespace

Result<int> RunLocalProcesses(const std::vector<LocalProcess>& processes,
                              const std::function<void(std::string_view)>& remark) {
  Group group(remark);
  for (const LocalProcess& process : processes) TY_RETURN_IF_ERROR(group.Launch(process));
  return group.Run();
}

}  // namespace trainyard::cli
