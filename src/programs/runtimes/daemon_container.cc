#include "programs/runtimes/daemon_container.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include "base/async/file.h"
#include "base/process/kernel_calls.h"
#include "net/http/client_stream.h"
#include "programs/runtimes/daemon_api.h"
#include "programs/sandbox/namespaces/device_files.h"

namespace trainyard::replica {

namespace {

constexpr std::chrono::minutes kReadRound{10};
constexpr std::size_t kNoteBytesMax = 64 << 10;
/// Exit status of the process if its container could not be run.
constexpr int kFailedStatus = 125;

std::string NoteFile(const AttemptDir& dir) { return dir.path + "/containers"; }
std::string EndFile(const AttemptDir& dir) { return dir.path + "/container_end"; }
std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string NamePrefix(const std::string& attempts_dir) { return InstallationName(attempts_dir) + "-"; }

/// Converts an exit code to a wait status: as in a shell, codes above 128 are signals.
int WaitStatus(int exit_code) {
  constexpr int kSignalBase = 128;
  if (exit_code > kSignalBase && exit_code < kSignalBase + SIGRTMIN) return exit_code - kSignalBase;
  return W_EXITCODE(exit_code & 0xFF, 0);
}

/// Forwards SIGTERM to the container, on a separate thread, since writing the output may block for long.
class StopRelay {
 public:
  StopRelay(const ContainerRun& run, const sigset_t& signals)
      : run_(run),
        signals_(signalfd(-1, &signals, SFD_CLOEXEC)),
        quit_(eventfd(0, EFD_CLOEXEC)),
        thread_([this] { Watch(); }) {}
  StopRelay(const StopRelay&) = delete;
  StopRelay& operator=(const StopRelay&) = delete;
  ~StopRelay() {
    eventfd_write(quit_.get(), 1);
    thread_.join();
  }

  /// Call it when the container runs or may run: forwards an earlier signal.
  void OnStarted() {
    started_ = true;
    if (asked_) Pass();
  }
  [[nodiscard]] bool started() const { return started_; }

 private:
  void Watch() {
    for (;;) {
      std::array<pollfd, 2> ready = {
          {{.fd = signals_.get(), .events = POLLIN}, {.fd = quit_.get(), .events = POLLIN}}};
      if (poll(ready.data(), ready.size(), -1) < 0) continue;
      if (ready[1].revents != 0) return;
      signalfd_siginfo received{};
      if (read(signals_.get(), &received, sizeof(received)) != sizeof(received)) continue;
      asked_ = true;
      if (started_) Pass();
    }
  }
  /// Forwards the signal once. A daemon that does not answer is noticed elsewhere, and the grace period ends
  /// with SIGKILL.
  void Pass() {
    if (!passed_.exchange(true))
      static_cast<void>(DaemonApi(run_.socket).Signal(run_.name, run_.stop_signal));
  }

  const ContainerRun& run_;
  UniqueFd signals_;
  UniqueFd quit_;
  std::atomic<bool> asked_ = false;
  std::atomic<bool> started_ = false;
  std::atomic<bool> passed_ = false;
  std::thread thread_;
};

/// Copies the output to the end of both streams.
Status CopyOutput(http::ClientStream& output) {
  DaemonFrames frames;
  const auto write_out = [](int stream, std::string_view bytes) { return WriteAll(stream, bytes); };
  for (;;) {
    const auto bytes = output.Read(kReadRound);
    if (!bytes && bytes.error().code == Code::kDeadlineExceeded) continue;  // there is no output now
    if (!bytes) return std::unexpected(bytes.error());
    if (bytes->empty()) break;
    TY_RETURN_IF_ERROR(frames.Feed(*bytes, write_out));
  }
  if (frames.in_frame()) return std::unexpected(Error{Code::kDataLoss, "it is cut", {}});
  return {};
}

/// Copies the output and returns how the container ended. The end of the output alone proves nothing: a
/// program may close it and run on, and a daemon that goes away closes it, too.
Result<ContainerState> CopyToEnd(DaemonApi& api, const std::string& name, http::ClientStream& output,
                                 Result<http::ClientStream> wait) {
  if (!wait) return std::unexpected(wait.error());
  TY_RETURN_IF_ERROR(CopyOutput(output));
  return api.ReadEnd(*wait, name);
}

Result<http::ClientStream> CreateAndStart(DaemonApi& api, const std::string& name,
                                          const DaemonContainer& container) {
  TY_RETURN_IF_ERROR(api.Create(name, CreateContainerBody(container)));
  return api.AttachAndStart(name);
}

/// Whether the daemon was not installed with its init: docker-init, or podman's catatonit.
bool LacksInit(const Error& error) {
  return error.message.find("docker-init") != std::string::npos ||
         error.message.find("container-init") != std::string::npos ||
         error.message.find("catatonit") != std::string::npos;
}

Result<ContainerState> Follow(DaemonApi& api, const ContainerRun& run, StopRelay& relay) {
  DaemonContainer container = run.container;
  if (!container.devices.gpus().empty()) {
    TY_TRY(container.gpu_way, api.FindGpuWay(!container.files.cdi_names.empty()));
  }
  auto output = CreateAndStart(api, run.name, container);
  if (container.init && !output && LacksInit(output.error())) {
    TY_RETURN_IF_ERROR(api.Remove(run.name));
    container.init = false;
    output = CreateAndStart(api, run.name, container);
  }
  if (output || output.error().code == Code::kUnknown) relay.OnStarted();
  if (!output) return std::unexpected(output.error());
  auto state = CopyToEnd(api, run.name, *output, api.OpenWait(run.name));
  if (state) return state;
  if (const auto found = api.Inspect(run.name); !found) {
    return std::unexpected(
        Error{found.error().code,
              "The container engine went away while the container ran: " + found.error().message,
              {}});
  }
  // A restarted daemon still has the container, but the connection with its output is lost.
  return std::unexpected(Unavailable("The output of the container broke off: " + state.error().message));
}

struct NotedContainer {
  std::string name;
  std::string socket;
};

/// Parses lines of "NAME SOCKET".
std::vector<NotedContainer> ParseNote(std::string_view note) {
  std::vector<NotedContainer> noted;
  while (!note.empty()) {
    const std::string_view line = note.substr(0, note.find('\n'));
    note.remove_prefix(std::min(note.size(), line.size() + 1));
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos)
      noted.push_back(
          {.name = std::string(line.substr(0, blank)), .socket = std::string(line.substr(blank + 1))});
  }
  return noted;
}

}  // namespace

std::string ContainerName(const AttemptDir& dir) { return NamePrefix(FolderOf(dir.path)) + NameOf(dir.path); }

std::map<std::string, std::string> ContainerLabels(const AttemptDir& dir) {
  const std::string real = RealPath(dir.path);
  return {{kAttemptsLabel, FolderOf(real)}, {kAttemptLabel, NameOf(real)}};
}

Status NoteContainer(const AttemptDir& dir, const std::string& socket, const std::string& name) {
  const std::string before = ReadFile(NoteFile(dir), kNoteBytesMax).value_or("");
  const std::string line = name + " " + socket + "\n";
  if (before.find(line) != std::string::npos) return {};  // the attempt to create it is repeated
  return WriteFileAtomically(NoteFile(dir), before + line, 0600);
}

bool HasNotedContainers(const AttemptDir& dir) { return access(NoteFile(dir).c_str(), F_OK) == 0; }

std::vector<pid_t> NotedContainerPids(const AttemptDir& dir) {
  std::vector<pid_t> pids;
  const auto note = ReadFile(NoteFile(dir), kNoteBytesMax);
  if (!note) return pids;
  for (const NotedContainer& noted : ParseNote(*note)) {
    const auto state = DaemonApi(noted.socket).Inspect(noted.name);
    if (state && state->running && state->pid > 0) pids.push_back(static_cast<pid_t>(state->pid));
  }
  return pids;
}

Status RemoveNotedContainers(const AttemptDir& dir) {
  const auto note = ReadFile(NoteFile(dir), kNoteBytesMax);
  if (!note && note.error().code == Code::kNotFound) return {};
  if (!note) return std::unexpected(note.error());
  for (const NotedContainer& noted : ParseNote(*note)) {
    DaemonApi api{noted.socket};
    TY_RETURN_IF_ERROR(api.Remove(noted.name));
  }
  if (unlink(NoteFile(dir).c_str()) != 0 && errno != ENOENT)
    return std::unexpected(ErrnoError(errno, "remove " + NoteFile(dir)));
  return {};
}

Status RemoveLeftContainers(const std::string& socket, const std::string& attempts_dir,
                            const std::function<Result<bool>(const AttemptDir&)>& lives) {
  DaemonApi api(socket);
  const std::string prefix = NamePrefix(attempts_dir);
  TY_TRY(const std::vector<std::string> names,
         api.List(std::string(kAttemptsLabel) + "=" + RealPath(attempts_dir)));
  for (const std::string& name : names) {
    if (!name.starts_with(prefix)) continue;
    std::string attempt = name.substr(prefix.size());
    if (attempt.ends_with(kPackagesSuffix)) attempt.resize(attempt.size() - kPackagesSuffix.size());
    const AttemptDir dir{attempts_dir + "/" + attempt};
    TY_TRY(const bool is_alive, lives(dir));
    if (!is_alive) TY_RETURN_IF_ERROR(api.Remove(name));
  }
  return {};
}

std::optional<ContainerEnd> ReadContainerEnd(const AttemptDir& dir) {
  const auto text = ReadFile(EndFile(dir), kNoteBytesMax);
  if (!text) return std::nullopt;
  const std::size_t line = text->find('\n');
  if (line == std::string::npos) return std::nullopt;
  std::istringstream words(text->substr(0, line));
  ContainerEnd end;
  std::string how;
  if (!(words >> end.wait_status >> how)) return std::nullopt;
  words >> end.memory_bytes >> end.memory_peak_bytes;  // an older program's has neither
  end.out_of_memory = how == "oom";
  end.lost = how == "lost";
  end.failure = text->substr(line + 1);
  return end;
}

void WriteContainerEnd(const AttemptDir& dir, const ContainerEnd& end) {
  const char* how = end.out_of_memory ? " oom " : end.lost ? " lost " : " - ";
  const std::string text = std::to_string(end.wait_status) + how + std::to_string(end.memory_bytes) + " " +
                           std::to_string(end.memory_peak_bytes) + "\n" + end.failure;
  static_cast<void>(WriteFileAtomically(EndFile(dir), text, 0600));
}

int ExitStatusOf(const ContainerEnd& end) {
  if (!end.failure.empty()) return kFailedStatus;
  return WIFEXITED(end.wait_status) ? WEXITSTATUS(end.wait_status) : 128 + WTERMSIG(end.wait_status);
}

int RunContainer(const ContainerRun& run) {
  const sigset_t signals = SignalSet({SIGTERM});
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  DaemonApi api(run.socket);
  Result<ContainerState> state = std::unexpected(Unavailable(""));
  ContainerEnd end;
  {
    StopRelay relay(run, signals);
    state = Follow(api, run, relay);
    end.lost = !state && relay.started();
  }
  if (state) {
    end.wait_status = WaitStatus(state->exit_code);
    end.out_of_memory = state->out_of_memory;
  } else {
    end.wait_status = W_EXITCODE(kFailedStatus, 0);
    end.failure = state.error().message;
  }
  WriteContainerEnd(run.dir, end);
  static_cast<void>(RemoveNotedContainers(
      run.dir));  // otherwise the process that cleans up after us does it, or reports why not
  return ExitStatusOf(end);
}

}  // namespace trainyard::replica
