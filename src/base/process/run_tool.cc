#include "base/process/run_tool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <deque>
#include <filesystem>
#include <utility>

#include "base/process/child_process.h"
#include "base/process/kernel_calls.h"
#include "base/process/variables.h"

namespace trainyard {

namespace {

constexpr std::chrono::milliseconds kToolSilenceMax = std::chrono::hours(2);
constexpr std::size_t kToolLineMax = std::size_t{64} << 10;

std::vector<std::string> Variables(const ToolCommand& command) {
  return command.has_all_variables ? PrintVariables(command.variables) : OwnVariables(command.variables);
}

/// Ends this process with the tool's status.
[[noreturn]] void EndAs(int wait_status) {
  if (WIFEXITED(wait_status)) ::_exit(WEXITSTATUS(wait_status));
  const int number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : SIGKILL;
  ::prctl(PR_SET_DUMPABLE, 0);  // no core of this process: only the tool's is of interest
  ::signal(number, SIG_DFL);
  ::raise(number);
  ::_exit(128 + number);
}

/// In the child, after fork: runs the tool isolated and waits for it. After the C library's fork the heap can
/// be used.
[[noreturn]] void KeepIsolated(const ToolCommand& command, pid_t parent, int out, int err) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (::getppid() != parent || ::dup2(out, 1) != 1 || ::dup2(err, 2) != 2) ::_exit(127);
  EndAs(command.isolation->Run({.argv = command.argv,
                                .variables = Variables(command),
                                .view = command.view,
                                .lock = command.inherited}));
}

/// Cuts bytes into lines without their ends; a carriage return is an end too.
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

/// Forks a process of ours that isolates the tool and waits for it, without exec: ChildProcess::Spawn cannot.
Result<ChildProcess> StartIsolated(const ToolCommand& command, int out, int err) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (child == 0) KeepIsolated(command, parent, out, err);
  return ChildProcess::Adopt(child);
}

Result<ChildProcess> Start(const ToolCommand& command, int out, int err) {
  if (command.isolation != nullptr) return StartIsolated(command, out, err);
  SpawnOptions options{.argv = command.argv,
                       .environment = Variables(command),
                       .descriptors = {{out, 1}, {err, 2}},
                       .group = ProcessGroup::kNew,
                       .dies_with_parent = true,
                       .action = "cannot run"};
  if (command.input >= 0) options.descriptors.emplace_back(command.input, 0);
  if (command.inherited >= 0) options.descriptors.emplace_back(command.inherited, command.inherited);
  return ChildProcess::Spawn(std::move(options));
}

/// Does not reap it: until then no other process gets its number.
void WaitUntilEnded(const ChildProcess& child) {
  pollfd ended{.fd = child.pidfd(), .events = POLLIN, .revents = 0};
  while (::poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<ToolEnd> RunTool(const ToolCommand& command, const LineSink& out, const LineSink& err,
                        const std::stop_token& stop) {
  if (stop.stop_requested()) return std::unexpected(Error{Code::kCancelled, "stopped", {}});
  TY_TRY(Pipe out_pipe, MakePipe());
  TY_TRY(Pipe err_pipe, MakePipe());
  TY_TRY(ChildProcess child,
         Start(command, command.output < 0 ? out_pipe.write.get() : command.output, err_pipe.write.get()));
  out_pipe.write.Reset();
  err_pipe.write.Reset();
  std::deque<std::string> tail;
  LineCutter out_lines(out, tail);
  LineCutter err_lines(err, tail);
  bool heard = false;
  const pid_t target = command.isolation != nullptr ? child.pid() : -child.pid();
  {
    // Not beyond this block: once the child is waited for, its number may name another process.
    // An isolated tool ends with the process that waits for it: its init process then kills all the others.
    const std::stop_callback kill_group(stop, [target] { ::kill(target, SIGKILL); });
    heard = PassOn(out_pipe.read.get(), err_pipe.read.get(), out_lines, err_lines);
    if (!heard) ::kill(target, SIGKILL);
    WaitUntilEnded(child);
  }
  TY_TRY(const ExitStatus status, child.WaitFor({}));
  if (stop.stop_requested()) return std::unexpected(Error{Code::kCancelled, "stopped", {}});
  const std::string name = std::filesystem::path(command.argv.front()).filename();
  if (!heard)
    return std::unexpected(Error{Code::kDeadlineExceeded, name + " printed nothing for two hours", {}});
  ToolEnd end;
  end.exit_code = status.code;
  end.signal = status.signal;
  end.tail.assign(tail.begin(), tail.end());
  return end;
}

}  // namespace trainyard
