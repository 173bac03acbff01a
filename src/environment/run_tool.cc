#include "environment/run_tool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <utility>

#include "async/unique_fd.h"

extern char** environ;

namespace trainyard::environment {

namespace {

constexpr std::chrono::milliseconds kToolSilenceMax = std::chrono::hours(2);
constexpr std::size_t kToolLineMax = std::size_t{64} << 10;

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<std::string> Variables(const ToolCommand& command) {
  std::vector<std::string> lines;
  for (char** entry = environ; *entry != nullptr && !command.has_all_variables; ++entry) {
    const std::string_view line = *entry;
    if (!command.variables.contains(std::string(line.substr(0, line.find('='))))) lines.emplace_back(line);
  }
  for (const auto& [name, value] : command.variables)
    if (value) lines.push_back(name + "=" + *value);
  return lines;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// In the child, after fork.
void BecomeOwnGroup() {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
}

/// In the child, after fork: only async-signal-safe calls. Writes errno to `failure` if it cannot exec.
[[noreturn]] void Exec(char* const* argv, char* const* envp, pid_t parent, int in, int out, int err,
                       int inherited, int failure) {
  BecomeOwnGroup();
  if (in < 0) in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const bool ready = in >= 0 && ::getppid() == parent && ::dup2(in, 0) == 0 && ::dup2(out, 1) == 1 &&
                     ::dup2(err, 2) == 2 && (inherited < 0 || ::fcntl(inherited, F_SETFD, 0) == 0);
  if (ready) ::execve(argv[0], argv, envp);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

/// Ends as the tool did.
[[noreturn]] void EndAs(int wait_status) {
  if (WIFEXITED(wait_status)) ::_exit(WEXITSTATUS(wait_status));
  const int number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : SIGKILL;
  ::prctl(PR_SET_DUMPABLE, 0);  // the tool's core, if any, is the one to look at
  ::signal(number, SIG_DFL);
  ::raise(number);
  ::_exit(128 + number);
}

/// In the child, after fork: waits for the tool in its isolation. The C library's fork leaves it a heap that
/// can be used.
[[noreturn]] void KeepIsolated(const ToolCommand& command, pid_t parent, int out, int err, int failure) {
  BecomeOwnGroup();
  if (::getppid() != parent || ::dup2(out, 1) != 1 || ::dup2(err, 2) != 2) ::_exit(127);
  ::close(failure);
  EndAs(command.isolation->Run({.argv = command.argv,
                                .variables = Variables(command),
                                .view = command.view,
                                .lock = command.inherited}));
}

/// Cuts what comes in into lines without their end, carriage returns counting as ends too.
class LineCutter {
 public:
  LineCutter(const LineSink& sink, std::deque<std::string>& tail) : sink_(sink), tail_(tail) {}

  void Add(std::string_view bytes) {
    for (const char byte : bytes) {
      if (byte != '\n' && byte != '\r') line_ += byte;
      if (byte == '\n' || byte == '\r' || line_.size() >= kToolLineMax) Finish();
    }
  }
  void Finish() {
    if (line_.empty()) return;
    if (sink_) sink_(line_);
    if (tail_.size() == kToolTailMax) tail_.pop_front();
    tail_.push_back(std::exchange(line_, {}));
  }

 private:
  const LineSink& sink_;
  std::deque<std::string>& tail_;
  std::string line_;
};

/// Reads both ends until both are closed. False if nothing came for too long.
bool PassOn(int out, int err, LineCutter& out_lines, LineCutter& err_lines) {
  std::array<pollfd, 2> polls{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
  std::array<LineCutter*, 2> cutters{&out_lines, &err_lines};
  std::array<char, 16384> buffer{};
  while (polls[0].fd >= 0 || polls[1].fd >= 0) {
    const int ready = ::poll(polls.data(), polls.size(), static_cast<int>(kToolSilenceMax.count()));
    if (ready == 0) return false;
    if (ready < 0) continue;
    for (std::size_t i = 0; i < polls.size(); ++i) {
      if (polls[i].fd < 0 || polls[i].revents == 0) continue;
      const ssize_t count = ::read(polls[i].fd, buffer.data(), buffer.size());
      if (count > 0) cutters[i]->Add({buffer.data(), static_cast<std::size_t>(count)});
      if (count == 0 || (count < 0 && errno != EINTR)) polls[i].fd = -1;
    }
  }
  out_lines.Finish();
  err_lines.Finish();
  return true;
}

struct Child {
  pid_t id = -1;
  UniqueFd out, err;
};

Result<Child> Start(const ToolCommand& command) {
  TY_TRY(Pipe out, MakePipe());
  TY_TRY(Pipe err, MakePipe());
  TY_TRY(Pipe failure, MakePipe());
  std::vector<std::string> argv = command.argv;
  std::vector<std::string> variables = Variables(command);
  const std::vector<char*> argv_pointers = Pointers(argv);
  const std::vector<char*> variable_pointers = Pointers(variables);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (child == 0 && command.isolation != nullptr)
    KeepIsolated(command, parent, command.output < 0 ? out.write.get() : command.output, err.write.get(),
                 failure.write.get());
  if (child == 0)
    Exec(argv_pointers.data(), variable_pointers.data(), parent, command.input,
         command.output < 0 ? out.write.get() : command.output, err.write.get(), command.inherited,
         failure.write.get());
  failure.write.Reset();
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(failure.read.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count == sizeof error) {
    ::waitpid(child, nullptr, 0);
    return std::unexpected(ErrnoError(error, "cannot run " + command.argv.front()));
  }
  return Child{child, std::move(out.read), std::move(err.read)};
}

}  // namespace

Result<ToolEnd> RunTool(const ToolCommand& command, const LineSink& out, const LineSink& err,
                        const std::stop_token& stop) {
  if (stop.stop_requested()) return std::unexpected(Error{Code::kCancelled, "stopped", {}});
  TY_TRY(const Child child, Start(command));
  std::deque<std::string> tail;
  LineCutter out_lines(out, tail);
  LineCutter err_lines(err, tail);
  bool heard = false;
  const pid_t target = command.isolation != nullptr ? child.id : -child.id;
  {
    // Not beyond this block: once the child is waited for, its number may name another process.
    // In isolation everything ends with the process that keeps it, which needs its init process for that.
    const std::stop_callback kill_group(stop, [target] { ::kill(target, SIGKILL); });
    heard = PassOn(child.out.get(), child.err.get(), out_lines, err_lines);
    siginfo_t ended{};
    if (!heard) ::kill(target, SIGKILL);
    while (::waitid(P_PID, static_cast<id_t>(child.id), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
  }
  int status = 0;
  while (::waitpid(child.id, &status, 0) < 0 && errno == EINTR) {
  }
  if (stop.stop_requested()) return std::unexpected(Error{Code::kCancelled, "stopped", {}});
  const std::string name = std::filesystem::path(command.argv.front()).filename();
  if (!heard)
    return std::unexpected(Error{Code::kDeadlineExceeded, name + " printed nothing for two hours", {}});
  ToolEnd end;
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.tail.assign(tail.begin(), tail.end());
  return end;
}

}  // namespace trainyard::environment
