#include "cli/interrupt.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace trainyard::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void Note(int) { interrupted = 1; }

}  // namespace

InterruptWatch::InterruptWatch() {
  interrupted = 0;
  struct sigaction action{};
  action.sa_handler = Note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

InterruptWatch::~InterruptWatch() { std::signal(SIGINT, SIG_DFL); }

bool InterruptWatch::Interrupted() const { return interrupted != 0; }

bool InterruptWatch::WaitFor(std::chrono::milliseconds wait) const {
  // Blocked, so that a signal between the look and the wait is not lost; sigtimedwait takes it without the
  // handler.
  sigset_t only_interrupt;
  sigset_t before;
  sigemptyset(&only_interrupt);
  sigaddset(&only_interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &only_interrupt, &before);
  if (interrupted == 0) {
    timespec timeout{.tv_sec = wait.count() / 1000, .tv_nsec = wait.count() % 1000 * 1'000'000};
    if (sigtimedwait(&only_interrupt, nullptr, &timeout) == SIGINT) interrupted = 1;
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return interrupted != 0;
}

bool InterruptWatch::WaitForInput(int descriptor, std::chrono::milliseconds wait) const {
  // Let in while ppoll waits, and only then: its handler ends the wait.
  sigset_t only_interrupt;
  sigset_t before;
  sigemptyset(&only_interrupt);
  sigaddset(&only_interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &only_interrupt, &before);
  if (interrupted == 0) {
    pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
    const auto count = std::max<std::int64_t>(wait.count(), 0);
    const timespec timeout{.tv_sec = count / 1000, .tv_nsec = count % 1000 * 1'000'000};
    ppoll(&watched, 1, &timeout, &before);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return interrupted != 0;
}

void DieOfInterrupt() {
  std::signal(SIGINT, SIG_DFL);
  raise(SIGINT);
  _exit(130);
}

}  // namespace trainyard::cli
