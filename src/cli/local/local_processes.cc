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

#include "async/file.h"
#include "async/unique_fd.h"

extern char** environ;

namespace trainyard::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// For what does not end by SIGTERM.
constexpr milliseconds kStopGrace{5'000};
constexpr milliseconds kWaitMax{1'000};
constexpr milliseconds kLookAgain{100};  ///< for orphans that have just come to us
constexpr milliseconds kKillAgain{10};
constexpr int kSignalBase = 128;  ///< a shell's status of what a signal ended

sigset_t WatchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  return set;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Variables(const LocalProcess& process) {
  std::vector<std::string> lines;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    if (!process.variables.contains(std::string(line.substr(0, line.find('='))))) lines.emplace_back(line);
  }
  for (const auto& [name, value] : process.variables) lines.push_back(name + "=" + value);
  return lines;
}

/// In the child: only async-signal-safe calls.
[[noreturn]] void Exec(const LocalProcess& process, char* const* argv, char* const* envp, pid_t parent,
                       const sigset_t& mask, int failure) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (::getppid() == parent && ::chdir(process.directory.c_str()) == 0) ::execve(argv[0], argv, envp);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

Result<pid_t> Start(const LocalProcess& process, const sigset_t& mask) {
  std::vector<std::string> argv = process.argv;
  std::vector<std::string> variables = Variables(process);
  const std::vector<char*> argv_pointers = Pointers(argv);
  const std::vector<char*> variable_pointers = Pointers(variables);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (child == 0)
    Exec(process, argv_pointers.data(), variable_pointers.data(), parent, mask, write_end.get());
  write_end.Reset();
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(read_end.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof error) return child;
  ::waitpid(child, nullptr, 0);
  return std::unexpected(
      ErrnoError(error, "cannot run " + process.argv.front() + " in " + process.directory));
}

/// What has lost its parent is among them: this process is a subreaper.
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
    names_.clear();  // their ends are our doing from here
    while (Reap() && signals_ < 2 && steady_clock::now() < deadline) {
      Stop();
      Wait(kLookAgain);
    }
    if (signal_ != 0) return kSignalBase + signal_;
    return primary_status_ ? ExitStatusOf(*primary_status_) : 1;
  }

 private:
  /// Asks those to end that were not asked yet, orphans of others among them. The primary of an interrupted
  /// run may take its time to save; a terminal's Ctrl-C has reached it already, another's kill(1) only us.
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

  /// False once nothing is left.
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
  int signal_ = 0;   ///< the first that asked for the end
  int signals_ = 0;  ///< how many did
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
