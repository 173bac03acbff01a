#include "engine/agent/watcher.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>

#include "base/async/diagnostics.h"
#include "base/async/unique_fd.h"
#include "engine/agent/end_plan.h"
#include "programs/sandbox/cgroups/proc_figures.h"

namespace trainyard::agent {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kPauseMin{1'000};
constexpr milliseconds kPauseMax{30'000};
/// If a worker lived this long, its start was not the reason for its death.
constexpr std::chrono::minutes kGoodLife{1};

sigset_t WatchedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, kNoticeSignal, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

}  // namespace

void Watcher::Fork() {
  const pid_t watcher = ::getpid();
  child_ = ::fork();
  if (child_ < 0) {
    Diagnose(DiagnosticLevel::kError, std::string("cannot fork: ") + std::strerror(errno));
    return;
  }
  if (child_ > 0) {
    if (terminated_) ::kill(child_, SIGTERM);
    if (noticed_) ::kill(child_, kNoticeSignal);
    return;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != watcher) ::_exit(1);
  ::_exit(worker_());
}

void Watcher::PassOn(int signal) {
  terminated_ = terminated_ || signal == SIGTERM || signal == SIGINT;
  noticed_ = noticed_ || signal == kNoticeSignal;
  if (child_ > 0) ::kill(child_, signal == kNoticeSignal ? kNoticeSignal : SIGTERM);
}

int Watcher::Reap() {
  int status = 0;
  pid_t ended = 0;
  int exited = -1;
  while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
    if (ended != child_) continue;  // a supervisor of an earlier worker, or an orphan of one
    child_ = -1;
    if (WIFEXITED(status)) exited = WEXITSTATUS(status);
    if (WIFSIGNALED(status))
      Diagnose(DiagnosticLevel::kError, "the agent's worker was ended by signal " +
                                            std::to_string(WTERMSIG(status)) + "; another one will begin");
  }
  return exited;
}

int Watcher::Run() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t signals = WatchedSignals();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  const UniqueFd received(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  milliseconds pause = kPauseMin;
  Clock::time_point begun{};
  Clock::time_point next = Clock::now();
  for (;;) {
    if (child_ < 0 && Clock::now() >= next) {
      begun = Clock::now();
      Fork();
      if (child_ < 0) next = begun + pause;
    }
    const auto wait = std::chrono::ceil<milliseconds>(next - Clock::now());
    pollfd ready{.fd = received.get(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, child_ > 0 ? -1 : static_cast<int>(std::max<milliseconds::rep>(wait.count(), 1)));
    signalfd_siginfo one{};
    while (::read(received.get(), &one, sizeof one) > 0) {
      if (one.ssi_signo != SIGCHLD && one.ssi_signo != SIGHUP) PassOn(static_cast<int>(one.ssi_signo));
    }
    const bool had_child = child_ > 0;
    const int exited = Reap();
    if (exited >= 0) {
      replica::KillDescendants();
      return exited;
    }
    if (had_child && child_ < 0) {
      if (Clock::now() - begun >= kGoodLife) pause = kPauseMin;
      next = Clock::now() + pause;
      pause = std::min(pause * 2, kPauseMax);
    }
  }
}

}  // namespace trainyard::agent
