#include "base/process/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/async/file.h"
#include "base/process/kernel_calls.h"

namespace trainyard {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

int MillisecondsUntil(SteadyTime deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

void Keep(std::string_view bytes, std::size_t bytes_max, RunResult& result) {
  const std::size_t kept = std::min(bytes.size(), bytes_max - result.output.size());
  result.output.append(bytes.substr(0, kept));
  result.truncated = result.truncated || kept < bytes.size();
}

/// Until the program ended and the pipe is empty. Does not wait for a grandchild that keeps the pipe open.
Status Collect(ChildProcess& child, int pipe, std::size_t bytes_max, SteadyTime deadline, RunResult& result) {
  std::array<char, 16384> buffer{};
  bool open = true;
  while (true) {
    std::array<pollfd, 2> watched = {pollfd{.fd = child.pidfd(), .events = POLLIN, .revents = 0},
                                     pollfd{.fd = open ? pipe : -1, .events = POLLIN, .revents = 0}};
    const int ready = ::poll(watched.data(), watched.size(), MillisecondsUntil(deadline));
    if (ready < 0 && errno != EINTR) return std::unexpected(ErrnoError(errno, "poll"));
    if (ready == 0 && MillisecondsUntil(deadline) == 0) {
      return std::unexpected(Error{Code::kDeadlineExceeded, "the program did not end in time", ""});
    }
    const ssize_t got = open ? ::read(pipe, buffer.data(), buffer.size()) : 0;
    if (got > 0) Keep({buffer.data(), static_cast<std::size_t>(got)}, bytes_max, result);
    if (got > 0) continue;
    if (got == 0) open = false;
    if ((watched[0].revents & POLLIN) != 0) return {};
  }
}

}  // namespace

std::string FindProgram(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? std::string_view() : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    std::string candidate = std::string(folder) + "/" + std::string(name);
    if (folder.starts_with('/') && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

Result<AskedChild> AskedChild::Start(const std::function<std::string()>& answer) {
  TY_TRY(Pipe pipe, MakePipe());
  const pid_t child = ::fork();
  if (child < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (child == 0) ::_exit(WriteAll(pipe.write.get(), answer()) ? 0 : 1);
  return AskedChild(std::move(pipe.read), child);
}

std::string AskedChild::Take() && {
  std::string all;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t size = ::read(answer_.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    all.append(buffer.data(), static_cast<std::size_t>(size));
  }
  WaitForChild(pid_);
  return all;
}

Result<std::string> AnswerOfChild(const std::function<std::string()>& answer) {
  TY_TRY(AskedChild child, AskedChild::Start(answer));
  return std::move(child).Take();
}

Result<RunResult> RunProgram(SpawnOptions options, std::size_t output_bytes_max,
                             std::chrono::milliseconds wait_max) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + wait_max;
  TY_TRY(Pipe pipe, MakePipe());
  if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
  options.descriptors = {{pipe.write.get(), 1}, {pipe.write.get(), 2}};
  options.group = ProcessGroup::kNew;
  TY_TRY(ChildProcess child, ChildProcess::Spawn(std::move(options)));
  pipe.write.Reset();
  RunResult result;
  TY_RETURN_IF_ERROR(Collect(child, pipe.read.get(), output_bytes_max, deadline, result));
  TY_TRY(result.status, child.WaitFor(std::chrono::milliseconds(0)));
  return result;
}

}  // namespace trainyard
