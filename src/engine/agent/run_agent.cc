#include "engine/agent/run_agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/random_bytes.h"
#include "base/async/unique_fd.h"
#include "base/number.h"
#include "base/process/kernel_calls.h"
#include "base/text/hex.h"
#include "engine/agent/arguments.h"
#include "engine/agent/node_facts.h"
#include "engine/agent/node_folder.h"
#include "engine/agent/node_sockets.h"
#include "engine/agent/slot_end.h"
#include "engine/agent/worker.h"
#include "engine/local/port_leases.h"
#include "programs/runtimes/pod_container.h"
#include "programs/sandbox/cgroups/proc_figures.h"

namespace trainyard::agent {

namespace {

/// The agent's first process. It forks the worker, forwards SIGTERM (also for SIGINT) and kNoticeSignal to
/// it, and forks another worker if one was killed or crashed: supervisors live on meanwhile, and the next
/// worker finds them by their locks. The watcher is a child subreaper: it becomes the parent of orphaned
/// processes. When the worker has exited, all processes below the watcher are killed.
///
/// Runs in the process's only thread.
class Watcher {
 public:
  /// @param worker  runs in the forked process; returns its exit status. SIGTERM and kNoticeSignal are
  /// blocked until it handles them.
  explicit Watcher(std::function<int()> worker) : worker_(std::move(worker)) {}

  /// Returns the exit status of the worker that exited by itself.
  [[nodiscard]] int Run();

 private:
  void Fork();
  /// The worker's exit status; -1: it was killed, or has not ended.
  int Reap();
  void PassOn(int signal);

  std::function<int()> worker_;
  int child_ = -1;
  bool terminated_ = false;  ///< received signals, which the next worker gets, too
  bool noticed_ = false;
};

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kPauseMin{1'000};
constexpr milliseconds kPauseMax{30'000};
/// If a worker lived this long, its start was not the reason for its death.
constexpr std::chrono::minutes kGoodLife{1};

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
                                            std::to_string(WTERMSIG(status)) + "; starting another one");
  }
  return exited;
}

int Watcher::Run() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const UniqueFd received = OpenSignals({SIGCHLD, SIGTERM, SIGINT, kNoticeSignal, SIGHUP});
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

constexpr mode_t kUmask = 077;
constexpr int kExitUsage = 64;  // sysexits.h, EX_USAGE
constexpr const char* kTicket = "TRAINYARD_TICKET";
constexpr const char* kUntil = "TRAINYARD_UNTIL";

/// Removes the variable and overwrites its text, so that /proc/PID/environ does not show it either.
void EraseVariable(const char* name) {
  char* text = std::getenv(name);
  if (text == nullptr) return;
  ::explicit_bzero(text, std::strlen(text));
  ::unsetenv(name);
}

std::string TakeVariable(const char* name) {
  const char* text = std::getenv(name);
  std::string value = text == nullptr ? "" : text;
  EraseVariable(name);
  return value;
}

/// Runs in the child process that inspects the node. That process must stay dumpable to use its own /proc,
/// which otherwise belongs to root.
void ForgetTicket() {
  EraseVariable(kTicket);
  ::prctl(PR_SET_DUMPABLE, 1);
}

std::optional<SysTime> ReadUntil(const std::string& text) {
  const auto seconds = LeadingNumber<std::int64_t>(text);
  if (!seconds || *seconds <= 0) return std::nullopt;
  return SysTime(std::chrono::seconds(*seconds));
}

/// Signals that come before the watcher reads them wait for it. The first process of a container would ignore
/// them.
void HoldSignals() {
  sigset_t held;
  ::sigemptyset(&held);
  for (const int signal : {SIGTERM, SIGINT, kNoticeSignal}) ::sigaddset(&held, signal);
  ::sigprocmask(SIG_BLOCK, &held, nullptr);
}

int Complain(int status, const std::string& why) {
  std::fprintf(stderr, "trainyard agent: %s\n", why.c_str());
  return status;
}

/// Redirects messages to the slot's log; returns the descriptor to which they went before.
Result<UniqueFd> RedirectMessages(const NodeFolder& folder) {
  UniqueFd former(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  TY_TRY(const UniqueFd log, OpenFile(folder.log(), O_WRONLY | O_CREAT | O_APPEND, 0600));
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    if (::dup2(log.get(), stream) < 0) return std::unexpected(ErrnoError(errno, "dup2"));
  return former;
}

/// Containers run beside this one: the node's own runtimes do not matter here.
void UseStarter(const std::string& starter, NodeFacts& facts) {
  if (starter.empty()) return;
  facts.node.set_container_runtime(replica::v1::Manifest::POD_CONTAINER);
  facts.node.clear_containers_lacking();
  facts.node.clear_isolation_lacking();
  facts.node.clear_way_out_lacking();
  facts.container_address = starter;
}

Result<int> Run(Identity identity) {
  const Arguments& arguments = identity.arguments;
  const std::string node_dir = arguments.dir + "/nodes/" + arguments.node;
  // A pod has no container runtime: an image is a container of the pod.
  const NodeQuestion question{.environments_dir = node_dir + "/environments",
                              .has_runtimes = arguments.cache.empty()};
  TY_TRY(identity.facts, KeptNodeFacts(node_dir + "/facts", question, ForgetTicket));
  UseStarter(arguments.starter, identity.facts);
  identity.ticket = TakeVariable(kTicket);
  if (identity.ticket.empty())
    return std::unexpected(FailedPrecondition(std::string("the variable ") + kTicket + " is not set"));
  TY_TRY(
      const NodeFolder folder,
      NodeFolder::Open(
          {.dir = arguments.dir, .node = arguments.node, .ticket = identity.ticket, .slot = arguments.slot}));
  TY_TRY(const UniqueFd former, RedirectMessages(folder));
  identity.complain = former.get();
  Diagnose(DiagnosticLevel::kInfo, "agent of slot " + std::to_string(arguments.slot) + " on node " +
                                       arguments.node + ", for the server at " + arguments.server_host + ":" +
                                       std::to_string(arguments.server_port));
  const auto lease = PortLease::Take(RandomBytes<std::uint32_t>(), engine::IsPortFree);
  if (!lease) return std::unexpected(Unavailable("all ports for replicas are in use on this node"));
  identity.port = lease->port();
  identity.instance = text::Hex(RandomBytes<std::array<unsigned char, 16>>().data(), 16);
  // This process listens: while a worker is restarted, new connections wait in the kernel's queue.
  TY_TRY(NodeSockets sockets, NodeSockets::Bind(folder.run_dir(), identity.facts, arguments.front));
  // Only /gcs is missing then, and the log of each job says so.
  if (sockets.has_names) identity.facts.node.clear_isolation_lacking();
  Watcher watcher([&identity, &folder, &sockets] {
    return Work(
        identity, folder,
        std::move(sockets));  // the worker is a copy of this process: the next one has the sockets, too
  });
  return watcher.Run();
}

constexpr std::string_view kWriteStarter = "--write-starter=";

int WriteStarter(const std::string& path) {
  const Status written = replica::WritePodStarter(path);
  return written ? 0 : Complain(1, "cannot write the starter: " + written.error().message);
}

}  // namespace

int RunAgent(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]).starts_with(kWriteStarter))
    return WriteStarter(argv[1] + kWriteStarter.size());
  HoldSignals();
  // Other processes of the account must not read the ticket in this process's memory.
  ::prctl(PR_SET_DUMPABLE, 0);
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  Result<Arguments> arguments = ParseArguments(words);
  if (!arguments)
    return Complain(kExitUsage, arguments.error().field + " " + arguments.error().message +
                                    "\nusage: trainyard agent --server=HOST:PORT --fingerprint=HEX --slot=N "
                                    "--node=NAME [--gpus=LIST] --dir=DIR [--cache=DIR] [--front=ADDRESS] "
                                    "[--starter=SOCKET], or trainyard agent --write-starter=PATH");
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  ::prctl(PR_SET_NAME, "trainyard-agent");
  ::umask(kUmask);
  std::ignore = ::chdir("/");
  const std::optional<SysTime> until = ReadUntil(TakeVariable(kUntil));
  const Result<int> status =
      Run({.arguments = *std::move(arguments), .ticket = {}, .instance = {}, .until = until, .facts = {}});
  if (!status)
    return Complain(status.error().code == Code::kAlreadyExists ? kExitRefused : 1, status.error().message);
  // Skips destructors and leak checks: nothing is left to free, and this process may not be traced.
  ::_exit(*status);
}

}  // namespace trainyard::agent
