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

/// What InterruptEnds does; written before its handler is installed.
struct Ending {
  const char* text = nullptr;
  std::size_t size = 0;
  int status = 0;
};
Ending ending;

void End(int) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, ending.text, ending.size);
  _exit(ending.status);
}

/// Blocks SIGINT while it lives, so that a signal between the check and the wait is not lost.
class BlockedInterrupt {
 public:
  BlockedInterrupt() {
    sigemptyset(&only_interrupt_);
    sigaddset(&only_interrupt_, SIGINT);
    sigprocmask(SIG_BLOCK, &only_interrupt_, &before_);
  }
  ~BlockedInterrupt() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  BlockedInterrupt(const BlockedInterrupt&) = delete;
  BlockedInterrupt& operator=(const BlockedInterrupt&) = delete;

  [[nodiscard]] const sigset_t& only_interrupt() const noexcept { return only_interrupt_; }
  [[nodiscard]] const sigset_t& before() const noexcept { return before_; }

 private:
  sigset_t only_interrupt_{};
  sigset_t before_{};
};

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
  if (const BlockedInterrupt blocked; interrupted == 0) {
    const timespec timeout{.tv_sec = wait.count() / 1000, .tv_nsec = wait.count() % 1000 * 1'000'000};
    // Takes the signal without calling the handler.
    if (sigtimedwait(&blocked.only_interrupt(), nullptr, &timeout) == SIGINT) interrupted = 1;
  }
  return interrupted != 0;
}

bool InterruptWatch::WaitForInput(int descriptor, std::chrono::milliseconds wait) const {
  if (const BlockedInterrupt blocked; interrupted == 0) {
    pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
    const auto count = std::max<std::int64_t>(wait.count(), 0);
    const timespec timeout{.tv_sec = count / 1000, .tv_nsec = count % 1000 * 1'000'000};
    // ppoll unblocks the signal only while it waits; the handler ends the wait.
    ppoll(&watched, 1, &timeout, &blocked.before());
  }
  return interrupted != 0;
}

InterruptEnds::InterruptEnds(std::string_view text, int status) {
  ending = {text.data(), text.size(), status};
  struct sigaction action{};
  action.sa_handler = End;
  sigaction(SIGINT, &action, nullptr);
}

InterruptEnds::~InterruptEnds() { std::signal(SIGINT, SIG_DFL); }

void DieOfInterrupt() {
  std::signal(SIGINT, SIG_DFL);
  raise(SIGINT);
  _exit(130);
}

}  // namespace trainyard::cli
