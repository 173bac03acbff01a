#include "engine/local/container_support.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/process/kernel_calls.h"
#include "base/process/run_program.h"
#include "net/http/client.h"

namespace trainyard::engine {

namespace {

using replica::v1::Manifest;
using Way = ContainerChoice::Way;

constexpr std::chrono::seconds kAnswerMax{5};
constexpr std::size_t kVersionBytesMax = 4096;
constexpr std::string_view kRuntimes[] = {"crun", "runc"};
constexpr const char* kInstall =
    "Install crun or runc (Debian: apt install crun), which the next job uses, or start the server with the "
    "socket of a Docker or podman service (--engine-socket).";

/// Returns a path unchanged and searches PATH for a name. Empty: it does not exist.
std::string PathOf(const std::string& program) {
  if (program.find('/') == std::string::npos) return FindProgram(program);
  return ::access(program.c_str(), X_OK) == 0 ? std::filesystem::absolute(program).string() : "";
}

/// "crun version 1.8.1" -> "crun 1.8.1"
std::string ShownVersion(const std::string& output) {
  std::string line = output.substr(0, output.find('\n'));
  constexpr std::string_view kWord = " version";
  if (const std::size_t at = line.find(kWord); at != std::string::npos) line.erase(at, kWord.size());
  return line;
}

/// Whether the namespaces exist that an OCI runtime needs: root's, or those inside a user namespace, with
/// separate mounts.
bool HasNamespaces() {
  constexpr int kNamespaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC;
  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool made = ::unshare(kNamespaces) == 0 || ::unshare(kNamespaces | CLONE_NEWUSER) == 0;
    ::_exit(made && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? 0 : 1);
  }
  return pid > 0 && WaitForChild(pid, 1) == 0;
}

Result<ContainerSupport> ProbeOciRuntime(const std::string& program) {
  const std::string path = PathOf(program);
  if (path.empty()) return std::unexpected(NotFound(program + " is not installed"));
  SpawnOptions spawn{.argv = {path, "--version"}, .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}};
  const Result<RunResult> ran = RunProgram(std::move(spawn), kVersionBytesMax, kAnswerMax);
  if (!ran) return std::unexpected(Unavailable(path + " --version: " + ran.error().message));
  if (ran->status != ExitStatus{})
    return std::unexpected(Unavailable(path + " --version fails: " + ShownVersion(ran->output)));
  if (!HasNamespaces())
    return std::unexpected(Unavailable("this machine does not let " + path + " make namespaces"));
  return ContainerSupport{.kind = Manifest::OCI_RUNTIME, .address = path, .shown = ShownVersion(ran->output)};
}

/// Returns the first runtime that works, otherwise why the last one does not.
Result<ContainerSupport> FindOciRuntime(const ContainerChoice& choice) {
  if (!choice.runtime.empty()) return ProbeOciRuntime(choice.runtime);
  Result<ContainerSupport> found = std::unexpected(NotFound("neither crun nor runc is installed"));
  for (const std::string_view program : kRuntimes) {
    Result<ContainerSupport> probed = ProbeOciRuntime(std::string(program));
    if (probed) return probed;
    if (probed.error().code != Code::kNotFound) found = std::move(probed);
  }
  return found;
}

std::vector<std::string> Sockets(const ContainerChoice& choice) {
  if (!choice.engine_socket.empty()) return {choice.engine_socket};
  std::vector<std::string> sockets;
  constexpr std::string_view kUnix = "unix://";
  if (const char* host = std::getenv("DOCKER_HOST");
      host != nullptr && std::string_view(host).starts_with(kUnix))
    sockets.emplace_back(host + kUnix.size());
  sockets.emplace_back("/var/run/docker.sock");
  if (const char* dir = std::getenv("XDG_RUNTIME_DIR"); dir != nullptr && *dir == '/')
    sockets.push_back(std::string(dir) + "/podman/podman.sock");
  sockets.emplace_back("/run/podman/podman.sock");
  return sockets;
}

Result<ContainerSupport> ProbeDaemon(const std::string& socket) {
  if (::access(socket.c_str(), F_OK) != 0) return std::unexpected(NotFound("there is no socket " + socket));
  http::Client client(
      {.transport = http::Endpoint::Transport::kUnix, .host = "engine", .socket_path = socket});
  http::ClientRequest request{.target = "/_ping", .wait_max = kAnswerMax};
  const Result<http::ClientResponse> answer = client.Send(std::move(request));
  if (!answer)
    return std::unexpected(Unavailable("no engine answers at " + socket + ": " + answer.error().message));
  if (answer->status != 200)
    return std::unexpected(Unavailable("the service at " + socket + " is not Docker or podman"));
  return ContainerSupport{
      .kind = Manifest::CONTAINER_DAEMON, .address = socket, .shown = "the service at " + socket};
}

/// Returns the first daemon that works, otherwise why the last one does not.
Result<ContainerSupport> FindDaemon(const ContainerChoice& choice) {
  Result<ContainerSupport> found = std::unexpected(NotFound("no Docker or podman service is there"));
  for (const std::string& socket : Sockets(choice)) {
    Result<ContainerSupport> probed = ProbeDaemon(socket);
    if (probed || !choice.engine_socket.empty()) return probed;
    if (probed.error().code != Code::kNotFound) found = std::move(probed);
  }
  return found;
}

std::unexpected<Error> Unusable(const Error& why) {
  return std::unexpected(FailedPrecondition("cannot run containers: " + why.message));
}

}  // namespace

Result<ContainerSupport> FindContainerSupport(const ContainerChoice& choice, Manifest::Network network,
                                              bool job_users) {
  if (choice.way == Way::kOff)
    return ContainerSupport{.lacking = "Its operator has disabled containers (--container-engine off)."};
  const bool asked_for_socket = choice.way == Way::kApi || !choice.engine_socket.empty();
  const bool asked_for_runtime = choice.way == Way::kOci || !choice.runtime.empty();
  const bool isolated = network == Manifest::ISOLATED;
  if (job_users && (asked_for_socket || asked_for_runtime))
    return std::unexpected(
        FailedPrecondition("--job-users is for Python packages only: containers would run as root. Remove "
                           "it, or the flags that request a container engine"));
  if (job_users)
    return ContainerSupport{
        .lacking =
            "Its operator runs jobs as separate users (--job-users), which containers do not support."};
  if (asked_for_socket && !asked_for_runtime) {
    if (isolated)
      return std::unexpected(
          FailedPrecondition("--network isolated needs --container-engine oci: a container engine puts "
                             "containers into networks of its own"));
    Result<ContainerSupport> found = FindDaemon(choice);
    if (!found) return Unusable(found.error());
    return found;
  }
  Result<ContainerSupport> runtime = FindOciRuntime(choice);
  if (runtime) return runtime;
  if (asked_for_runtime) return Unusable(runtime.error());
  Result<ContainerSupport> socket =
      isolated ? std::unexpected(FailedPrecondition("a service cannot run them in isolated networks"))
               : FindDaemon(choice);
  if (socket) return socket;
  return ContainerSupport{.lacking = "On its machine " + runtime.error().message + ", and " +
                                     socket.error().message + ". " + kInstall};
}

void SayContainerSupport(const ContainerSupport& containers) {
  if (containers.kind == Manifest::CONTAINER_RUNTIME_UNSPECIFIED) {
    Diagnose(DiagnosticLevel::kInfo, "containers: none. " + containers.lacking);
    return;
  }
  Diagnose(DiagnosticLevel::kInfo, "containers: run by " + containers.shown);
  if (FindProgram("skopeo").empty())
    Diagnose(
        DiagnosticLevel::kWarning,
        "skopeo is not installed: images can neither be looked up nor pulled (Debian: apt install skopeo)");
}

ContainerProbe::ContainerProbe(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool, Look look,
                               Take take)
    : pool_(pool), look_(std::move(look)), take_(std::move(take)), ended_(loop), tasks_(loop) {}

boost::asio::awaitable<void> ContainerProbe::Ask(std::chrono::milliseconds wait_max) {
  if (!looking_) {
    looking_ = true;
    ended_.Reset();
    tasks_.Spawn(Run());
  }
  co_await ended_.WaitFor(wait_max);
}

boost::asio::awaitable<void> ContainerProbe::Run() {
  const Result<ContainerSupport> found = co_await OnPool(pool_, look_);
  take_(found);
  looking_ = false;
  ended_.Set();
}

}  // namespace trainyard::engine
