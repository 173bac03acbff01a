#include "programs/runtimes/pod_container.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/async/file.h"
#include "base/async/unix_socket.h"
#include "base/process/kernel_calls.h"
#include "programs/runtimes/inside/pod_frames.h"
#include "programs/runtimes/pod_starter_files.h"
#include "rules/container/program.h"

namespace trainyard::replica {

namespace {

constexpr std::chrono::seconds kConnectMax{10};
constexpr std::chrono::milliseconds kConnectPause{20};
/// Exit status of a program that was not run.
constexpr int kNotRunStatus = 125;
constexpr mode_t kStarterMode = 0755;
constexpr const char* kCannotRun = "the container's program cannot be run: ";

ContainerEnd NotRun(std::string failure) {
  return {.wait_status = W_EXITCODE(kNotRunStatus, 0), .failure = std::move(failure)};
}

ContainerEnd LostContainer(std::string failure) {
  ContainerEnd end = NotRun(std::move(failure));
  end.lost = true;
  return end;
}

/// Whether SIGTERM comes within that time. Takes it.
bool AwaitStop(int signals, std::chrono::milliseconds wait) {
  pollfd ready{.fd = signals, .events = POLLIN};
  if (poll(&ready, 1, static_cast<int>(wait.count())) <= 0) return false;
  signalfd_siginfo received{};
  return read(signals, &received, sizeof(received)) == sizeof(received);
}

/// Empty: SIGTERM came first. Errors: those of ConnectUnix.
Result<UniqueFd> ConnectToStarter(const std::string& socket, int signals) {
  const auto give_up = std::chrono::steady_clock::now() + kConnectMax;
  for (;;) {
    auto connection = ConnectUnix(socket);
    if (connection) return connection;
    const Code code = connection.error().code;
    const bool may_listen_later = code == Code::kNotFound || code == Code::kUnavailable;
    if (!may_listen_later || std::chrono::steady_clock::now() >= give_up) return connection;
    if (AwaitStop(signals, kConnectPause)) return UniqueFd();
  }
}

/// The strings as they follow the request.
std::string StringsOf(const PodRun& run) {
  std::string strings = run.directory + '\0';
  for (const auto* words : {&run.argv, &run.environment}) {
    for (const std::string& word : *words) strings.append(word).push_back('\0');
  }
  return strings;
}

/// Sends the request with this process's 0, 1 and 2. False: the starter takes no more of it.
bool SendRequest(int connection, const PodRun& run, std::string_view strings) {
  pod::StartRequest request{.size = static_cast<std::uint32_t>(strings.size()),
                            .arguments = static_cast<std::uint32_t>(run.argv.size()),
                            .variables = static_cast<std::uint32_t>(run.environment.size()),
                            .flags = (run.terminal ? pod::kTerminal : 0) | (run.whole ? pod::kWhole : 0)};
  constexpr std::array<int, pod::kDescriptors> kStreams = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  iovec part{.iov_base = &request, .iov_len = sizeof(request)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(kStreams))> room{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(kStreams));
  std::memcpy(CMSG_DATA(header), kStreams.data(), sizeof(kStreams));
  if (sendmsg(connection, &message, MSG_NOSIGNAL) != sizeof(request)) return false;
  while (!strings.empty()) {
    const ssize_t sent = send(connection, strings.data(), strings.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    strings.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// False: the starter has gone.
bool ReceiveAll(int connection, void* bytes, std::size_t size) {
  return size == 0 || std::cmp_equal(recv(connection, bytes, size, MSG_WAITALL), size);
}

/// Why exec(2) failed, in the words of oci_container.cc.
std::string WhyNotExecuted(int error, pod::Step step, std::string_view beginning) {
  if (error == ENOEXEC || step == pod::Step::kLoader) {
    const auto has_file = [step](const std::string&) { return step != pod::Step::kLoader; };
    std::string why = beginning.empty() ? "" : container::WhyNotRunnable(beginning, has_file);
    if (!why.empty()) return why;
  }
  if (step == pod::Step::kLoader) return "the image lacks the interpreter or loader that it needs";
  switch (error) {
    case ENOENT: return "the image has no such file";
    case EACCES: return "it is not executable";
    case EISDIR: return "it is a folder";
    case ENOEXEC: return "it is for another processor, or a script without a #! line";
    default: return std::strerror(error);
  }
}

std::string FailureOf(const PodRun& run, const pod::StarterEvent& event, std::string_view beginning) {
  const std::string reason = std::strerror(event.value);
  const auto step = static_cast<pod::Step>(event.detail);
  switch (step) {
    case pod::Step::kRequest:
      return std::string(kCannotRun) + "its arguments or variables are malformed: " + reason;
    case pod::Step::kSessions:
      return kCannotRun + std::to_string(pod::kSessionsMax) + " programs run in the container already";
    case pod::Step::kFork: return kCannotRun + ("fork: " + reason);
    case pod::Step::kTerminal: return kCannotRun + ("it gets no terminal: " + reason);
    case pod::Step::kDescriptors: return kCannotRun + ("its standard streams: " + reason);
    case pod::Step::kDirectory: return kCannotRun + ("its directory " + run.directory + ": " + reason);
    case pod::Step::kProgram:
    case pod::Step::kLoader: break;
  }
  return kCannotRun + run.argv.front() + ": " + WhyNotExecuted(event.value, step, beginning);
}

/// Takes an event. Nullopt: the program runs.
std::optional<ContainerEnd> TakeEvent(int connection, const PodRun& run, bool& has_started) {
  pod::StarterEvent event{};
  if (!ReceiveAll(connection, &event, sizeof(event))) {
    return LostContainer(has_started ? "The pod's container has ended while the program ran in it."
                                     : "The pod's container has ended while the program was started in it.");
  }
  switch (event.kind) {
    case pod::Kind::kStarted: has_started = true; return std::nullopt;
    case pod::Kind::kFailed: {
      std::string beginning(std::min<std::size_t>(event.size, pod::kBeginningMax), '\0');
      if (!ReceiveAll(connection, beginning.data(), beginning.size())) beginning.clear();
      return NotRun(FailureOf(run, event, beginning));
    }
    case pod::Kind::kEnded:
      return ContainerEnd{.wait_status = event.value,
                          .out_of_memory = event.value != 0 && event.detail > 0,
                          .memory_bytes = event.memory_limit_bytes,
                          .memory_peak_bytes = event.memory_peak_bytes};
  }
  return LostContainer("The pod's container has a starter of another version.");
}

/// Follows the program to its end.
ContainerEnd FollowProgram(int connection, int signals, const PodRun& run) {
  const pod::StarterSignal stop{.number = run.stop_signal};
  bool has_started = false;
  for (;;) {
    std::array<pollfd, 2> ready = {{{.fd = connection, .events = POLLIN}, {.fd = signals, .events = POLLIN}}};
    if (poll(ready.data(), ready.size(), -1) < 0) continue;
    if (ready[0].revents != 0) {
      if (auto end = TakeEvent(connection, run, has_started)) return *std::move(end);
    }
    // The starter takes it when the program runs; of one that has gone, the connection's end is read next.
    if (ready[1].revents != 0 && AwaitStop(signals, {}))
      static_cast<void>(send(connection, &stop, sizeof(stop), MSG_NOSIGNAL));
  }
}

/// A terminal has one session: the program's does not get it while it is ours.
void GiveUpTerminal() {
  std::signal(SIGHUP, SIG_IGN);  // the kernel sends it to the session's foreground processes
  static_cast<void>(ioctl(STDIN_FILENO, TIOCNOTTY));
}

}  // namespace

Status WritePodStarter(const std::string& path) {
  return ReplaceFile(path, pod_starter::Files().front().bytes, kStarterMode);
}

ContainerEnd RunInPod(const PodRun& run) {
  const UniqueFd signals = OpenSignals({SIGTERM});
  const std::string strings = StringsOf(run);
  if (strings.size() > pod::kStringsMax)
    return NotRun(std::string(kCannotRun) + "its arguments and variables have more than 4 MiB");
  const auto connection = ConnectToStarter(run.socket, signals.get());
  if (!connection) return NotRun("The pod's container does not answer: " + connection.error().message);
  if (!*connection) return {.wait_status = W_EXITCODE(0, run.stop_signal)};
  if (run.terminal) GiveUpTerminal();
  static_cast<void>(SendRequest(connection->get(), run, strings));  // if not, the starter says why
  return FollowProgram(connection->get(), signals.get(), run);
}

}  // namespace trainyard::replica
