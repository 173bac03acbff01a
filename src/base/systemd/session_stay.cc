#include "base/systemd/session_stay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "base/async/file.h"

namespace trainyard::systemd {

namespace {

/// Returns when the group is empty, or gone. The kernel wakes who polls cgroup.events.
void AwaitEmpty(const char* events) {
  const int file = open(events, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  for (;;) {
    std::array<char, 256> text{};
    const ssize_t size = pread(file, text.data(), text.size() - 1, 0);
    if (size <= 0 || std::strstr(text.data(), "populated 0") != nullptr) return;
    pollfd changed{.fd = file, .events = POLLPRI, .revents = 0};
    if (poll(&changed, 1, -1) < 0 && errno != EINTR) return;
  }
}

[[noreturn]] void Stay(int pipe) {
  prctl(PR_SET_NAME, "trainyard-stay");
  setsid();
  std::signal(SIGHUP, SIG_IGN);  // the end of its terminal is what it is there for
  std::array<char, PATH_MAX> path{};
  std::size_t size = 0;
  for (ssize_t more = 0; size + 1 < path.size(); size += static_cast<std::size_t>(more)) {
    more = read(pipe, path.data() + size, path.size() - 1 - size);
    if (more < 0 && errno == EINTR)
      more = 0;
    else if (more <= 0)
      break;
  }
  close(pipe);
  if (size > 0) AwaitEmpty(path.data());
  _exit(0);
}

}  // namespace

Result<SessionStay> SessionStay::Start() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t middle = fork();
  if (middle < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (middle == 0) {  // twice: it is nobody's child, and need not be waited for
    if (fork() != 0) _exit(0);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int stream = 0; stream <= 2; ++stream) dup2(null, stream);
    const int pipe = dup2(reading.get(), 3);
    close_range(4, ~0U, 0);
    Stay(pipe);
  }
  while (waitpid(middle, nullptr, 0) < 0 && errno == EINTR) {
  }
  return SessionStay(std::move(writing));
}

Status SessionStay::WaitFor(const std::string& group) {
  TY_RETURN_IF_ERROR(WriteAll(pipe_.get(), group + "/cgroup.events"));
  pipe_.Reset();
  return {};
}

}  // namespace trainyard::systemd
