#include "programs/sandbox/namespaces/led_command.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/async/unique_fd.h"
#include "base/process/kernel_calls.h"
#include "base/process/variables.h"
#include "programs/sandbox/namespaces/namespace_check.h"

namespace trainyard::replica {

namespace {

constexpr int kSignalBase = 128;
constexpr int kNotFound = 127;
constexpr int kNotRunnable = 126;
constexpr std::array<int, 7> kPassedOn = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

/// Reads our signals from a descriptor; the command gets the previous signal mask.
class ReadSignals {
 public:
  ReadSignals() {
    sigset_t read;
    sigemptyset(&read);
    for (const int number : kPassedOn) sigaddset(&read, number);
    sigprocmask(SIG_BLOCK, &read, &before_);
    descriptor_.Reset(signalfd(-1, &read, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ReadSignals(const ReadSignals&) = delete;
  ReadSignals& operator=(const ReadSignals&) = delete;
  ~ReadSignals() { Restore(); }

  void Restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

  /// The terminal's signals reach the whole group; signals that a process sends to us are forwarded to the
  /// command.
  void PassOn(pid_t command) const {
    signalfd_siginfo seen{};
    while (read(descriptor_.get(), &seen, sizeof(seen)) == sizeof(seen)) {
      if (seen.ssi_code <= 0) kill(command, static_cast<int>(seen.ssi_signo));
    }
  }

 private:
  sigset_t before_{};
  UniqueFd descriptor_;
};

/// Both ends of a pipe, closed on exec.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
    reading.Reset(ends[0]);
    writing.Reset(ends[1]);
  }
  UniqueFd reading;
  UniqueFd writing;
};

/// The descriptors from 3 on that we were given.
std::vector<int> InheritedDescriptors() {
  std::vector<int> numbers;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return numbers;
  while (const dirent* entry = readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    if (number > STDERR_FILENO && number != dirfd(folder)) numbers.push_back(number);
  }
  closedir(folder);
  return numbers;
}

/// Runs in the command's process up to its exec. It waits before the exec: without its doors the command must
/// not run.
[[noreturn]] void BecomeCommand(LedCommand& command, ConnectDoors& doors, const ReadSignals& signals,
                                Pipe& go, pid_t parent) {
  go.writing.Reset();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotRunnable);
  if (command.gains_nothing) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  doors.Install();
  char byte = 0;
  if (read(go.reading.get(), &byte, 1) != 1) _exit(kNotRunnable);
  signals.Restore();
  std::vector<char*> argv = Pointers(command.argv);
  std::vector<char*> environment = Pointers(command.environment);
  environ = environment.data();
  execvp(argv[0], argv.data());
  const int error = errno;
  std::fprintf(stderr, "trainyard: cannot run %s: %s\n", argv[0], std::strerror(error));
  _exit(error == ENOENT ? kNotFound : kNotRunnable);
}

/// Answers questions until the command has ended; returns its wait status.
int WaitFor(pid_t command, ConnectDoors& doors, const ReadSignals& signals) {
  const UniqueFd ended = OpenPidfd(command);
  std::vector<pollfd> waiting;
  do {
    waiting = {{.fd = ended.get(), .events = POLLIN}, {.fd = signals.descriptor(), .events = POLLIN}};
    doors.AddTo(waiting);
    while (poll(waiting.data(), waiting.size(), -1) < 0 && errno == EINTR) {
    }
    doors.Serve(waiting);
    signals.PassOn(command);
  } while (waiting[0].revents == 0);
  int status = 0;
  while (waitpid(command, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// False: no process can ask any more.
bool ServeOnce(ConnectDoors& doors, int wait_ms) {
  std::vector<pollfd> waiting;
  doors.AddTo(waiting);
  if (waiting.empty()) return false;
  while (poll(waiting.data(), waiting.size(), wait_ms) < 0 && errno == EINTR) {
  }
  doors.Serve(waiting);
  waiting.clear();
  doors.AddTo(waiting);
  return !waiting.empty();
}

/// Leaves a process that serves the doors of background processes of the command, without any of our
/// inherited descriptors.
void LeaveDoors(ConnectDoors& doors, const std::vector<int>& inherited, const ReadSignals& signals) {
  if (!ServeOnce(doors, 0) || fork() != 0) return;
  setsid();
  signals.Restore();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || chdir("/") != 0) _exit(1);
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, number);
  for (const int number : inherited) close(number);
  while (ServeOnce(doors, -1)) {
  }
  _exit(0);
}

}  // namespace

Result<int> RunLedCommand(LedCommand command) {
  const std::vector<int> inherited = InheritedDescriptors();
  ConnectDoors doors(command.doors, command.refuses);
  const ReadSignals signals;
  Pipe go;
  if (!go.writing) return std::unexpected(ErrnoError(errno, "pipe"));
  const pid_t parent = getpid();
  if (!UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, parent, 0))))  // its end could not be waited for
    return std::unexpected(ErrnoError(errno, "pidfd_open"));
  const pid_t program = fork();
  if (program < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (program == 0) BecomeCommand(command, doors, signals, go, parent);
  go.reading.Reset();
  if (const int error = doors.Receive(); error != 0) {
    go.writing.Reset();
    while (waitpid(program, nullptr, 0) < 0 && errno == EINTR) {
    }
    return std::unexpected(DoorsRefused(error));
  }
  if (write(go.writing.get(), "g", 1) != 1) return std::unexpected(ErrnoError(errno, "start the command"));
  go.writing.Reset();
  const int status = WaitFor(program, doors, signals);
  LeaveDoors(doors, inherited, signals);
  return WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace trainyard::replica
