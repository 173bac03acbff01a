#include "engine/local/keeper_starter.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/process/child_process.h"
#include "base/process/variables.h"
#include "base/systemd/service_variables.h"
#include "replica/keeper/keeper_message.h"
#include "replica/keeper/starter.h"

namespace trainyard::engine {

namespace {

using std::chrono::milliseconds;

/// Waits for the answer to a request. `gone`: the error if the other side does not answer. `received` gets
/// the descriptor that comes with the answer.
Result<keeper::Answer> ReceiveAnswer(int connection, keeper::Answer::AnswerCase wanted, const Error& gone,
                                     UniqueFd* received) {
  pollfd answered{.fd = connection, .events = POLLIN, .revents = 0};
  if (poll(&answered, 1, static_cast<int>(milliseconds(kKeeperAnswerMax).count())) <= 0)
    return std::unexpected(gone);
  auto packet = keeper::ReceivePacket(connection);
  if (!packet) return std::unexpected(gone);
  TY_TRY(keeper::Answer answer, keeper::ParseAnswer(packet->bytes));
  if (answer.has_refused())
    return std::unexpected(Error{static_cast<Code>(answer.refused().code()), answer.refused().message(), {}});
  if (received != nullptr && !packet->descriptors.empty()) *received = std::move(packet->descriptors.front());
  if (answer.answer_case() == wanted) return answer;
  return std::unexpected(Internal("what starts supervisors answers something else than was asked"));
}

/// One connection to the keeper, after the greeting. Blocking; one thread.
class KeeperCall {
 public:
  /// Connects. Errors name the socket and what to check.
  static Result<KeeperCall> Begin(const std::string& socket) {
    auto connected = keeper::ConnectForPackets(socket);
    if (!connected) return std::unexpected(DoesNotAnswer(socket));
    TY_RETURN_IF_ERROR(CheckPeer(socket, connected->get()));
    KeeperCall call(socket, *std::move(connected));
    keeper::Request hello;
    *hello.mutable_hello() = keeper::Greeting();
    TY_TRY(const keeper::Answer answer, call.Ask(hello, keeper::Answer::kHello));
    call.instance_ = answer.hello().instance();
    return call;
  }

  [[nodiscard]] std::uint64_t instance() const noexcept { return instance_; }

  /// `received` gets the descriptor that comes with the answer.
  Result<keeper::Answer> Ask(const keeper::Request& request, keeper::Answer::AnswerCase wanted,
                             std::span<const int> descriptors = {}, UniqueFd* received = nullptr) {
    const Status sent = keeper::SendPacket(connection_.get(), request.SerializeAsString(), descriptors);
    if (!sent && sent.error().code == Code::kUnavailable) return std::unexpected(DoesNotAnswer(socket_));
    if (!sent) return std::unexpected(sent.error());
    return ReceiveAnswer(connection_.get(), wanted, DoesNotAnswer(socket_), received);
  }

 private:
  KeeperCall(std::string socket, UniqueFd connection)
      : socket_(std::move(socket)), connection_(std::move(connection)) {}
  /// Checks which account listens there, since it gets the attempt's lock and the values of secrets.
  static Status CheckPeer(const std::string& socket, int connection) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
      return std::unexpected(DoesNotAnswer(socket));
    if (peer.uid == 0 || peer.uid == geteuid()) return {};
    return std::unexpected(Unavailable("the process that listens at " + socket + " belongs to user " +
                                       std::to_string(peer.uid) +
                                       ", not to root or this account: it is not used"));
  }
  static Error DoesNotAnswer(const std::string& socket) {
    return Unavailable("the keeper at " + socket + " does not answer: is trainyard-jobs.service running?");
  }

  std::string socket_;
  UniqueFd connection_;
  std::uint64_t instance_ = 0;
};

/// Makes an error temporary: what the operator can fix (such as a program that may not be executed) is not
/// the job's fault, so the job waits.
Error Passing(Error error) {
  if (error.code == Code::kPermissionDenied || error.code == Code::kNotFound) error.code = Code::kUnavailable;
  return error;
}

Result<MachineLimits> AskLimits(KeeperCall& call, const std::string& attempts_dir) {
  keeper::Request request;
  request.mutable_limits()->set_installation(replica::InstallationName(attempts_dir));
  TY_TRY(const keeper::Answer answer, call.Ask(request, keeper::Answer::kLimits));
  return DescribeLimits(keeper::SupportOf(answer.limits()), answer.limits().advice());
}

/// The environment variables that supervisors inherit: variables that a service manager sets for this process
/// alone are left out.
std::vector<std::string> SupervisorVariables() { return OwnVariables(systemd::WithoutServiceVariables()); }

struct StartMessage {
  UniqueFd log;  ///< open until it is sent
  keeper::Request request;
  std::vector<int> descriptors;
};

Result<StartMessage> MakeStartMessage(const SupervisorStart& start) {
  StartMessage message;
  TY_TRY(message.log, OpenFile(start.dir.SupervisorLog(), O_WRONLY | O_CREAT | O_APPEND, 0600));
  keeper::StartRequest& request = *message.request.mutable_start();
  request.set_name(start.name);
  request.set_program(start.program);
  request.mutable_arguments()->Assign(start.argv.begin(), start.argv.end());
  const auto give = [&](int descriptor, int number) {
    message.descriptors.push_back(descriptor);
    request.add_numbers(static_cast<std::uint32_t>(number));
  };
  give(message.log.get(), STDOUT_FILENO);
  give(message.log.get(), STDERR_FILENO);
  give(start.lock, replica::kInheritedLockFd);
  if (start.secrets >= 0) give(start.secrets, STDIN_FILENO);
  return message;
}

}  // namespace

ForkingStarter::ForkingStarter(MachineLimits limits) : limits_(std::move(limits)), process_(Begin()) {}

Result<ForkingStarter::Process> ForkingStarter::Begin() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return std::unexpected(ErrnoError(errno, "socketpair"));
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  SpawnOptions options{
      .argv = {"trainyard", "starter"},
      .program = "/proc/self/exe",
      .environment = SupervisorVariables(),
      .descriptors = {{theirs.get(), keeper::kStarterSocket}, {STDERR_FILENO, STDERR_FILENO}},
      .group = ProcessGroup::kSession,  // a terminal's Ctrl-C is not for it
      .action = "start what starts supervisors"};
  TY_TRY(ChildProcess child, ChildProcess::Spawn(std::move(options)));
  return Process{.socket = std::move(ours), .child = std::move(child)};
}

/// A process that does not answer is replaced, so that a late answer is not taken for that of another start.
Result<UniqueFd> ForkingStarter::Start(const SupervisorStart& start) {
  TY_TRY(const StartMessage message, MakeStartMessage(start));
  const std::string bytes = message.request.SerializeAsString();
  const auto ask = [&](Result<Process>& process) -> Result<UniqueFd> {
    if (!process || !keeper::SendPacket(process->socket.get(), bytes, message.descriptors)) {
      process = Begin();
      if (!process) return std::unexpected(process.error());
      TY_RETURN_IF_ERROR(keeper::SendPacket(process->socket.get(), bytes, message.descriptors));
    }
    const Error gone =
        Unavailable("the process that starts supervisors has ended; the next start begins another");
    UniqueFd pidfd;
    auto started = ReceiveAnswer(process->socket.get(), keeper::Answer::kStarted, gone, &pidfd);
    if (!started && started.error() == gone) process = Begin();
    if (!started) return std::unexpected(std::move(started).error());
    TY_RETURN_IF_ERROR(replica::SignLock(start.lock, static_cast<pid_t>(started->started().pid())));
    return pidfd;
  };
  return process_.With(ask);
}

Result<MachineLimits> LimitsOfKeeper(const std::string& socket, const std::string& attempts_dir) {
  TY_TRY(KeeperCall call, KeeperCall::Begin(socket));
  return AskLimits(call, attempts_dir);
}

std::string OwnProgram() { return RealPath("/proc/self/exe"); }

KeeperStarter::KeeperStarter(std::string socket, std::string attempts_dir, MachineLimits known, Check check)
    : socket_(std::move(socket)),
      attempts_dir_(std::move(attempts_dir)),
      check_(std::move(check)),
      keeper_(KeeperState{.limits = std::move(known)}) {}

MachineLimits KeeperStarter::limits() const {
  return keeper_.With([](const KeeperState& met) { return met.limits; });
}

/// Asks each keeper once what it can limit.
Result<MachineLimits> KeeperStarter::AskOnce() {
  TY_TRY(KeeperCall call, KeeperCall::Begin(socket_));
  KeeperState met = keeper_.With([](const KeeperState& known) { return known; });
  if (met.instance == call.instance()) return std::move(met.limits);
  TY_TRY(MachineLimits limits, AskLimits(call, attempts_dir_));
  TY_RETURN_IF_ERROR(check_(limits));
  if (!limits.lacking.empty() && limits.lacking != met.limits.lacking)
    Diagnose(DiagnosticLevel::kWarning, limits.lacking);
  keeper_.With([&](KeeperState& known) {
    known.instance = call.instance();
    known.limits = limits;
  });
  return limits;
}

Result<replica::CgroupHome> KeeperStarter::FindHome() {
  const Result<MachineLimits> limits = AskOnce();
  Note(limits);
  if (limits) return replica::CgroupHome{.version = limits->cgroup_version, .group = limits->cgroup};
  return std::unexpected(
      Unavailable(limits.error().message));  // whatever the error is: nothing has to be cleaned up
}

/// Logs once that nothing can be started, and once that it works again.
void KeeperStarter::Note(const Result<MachineLimits>& found) {
  const auto note = [&found](KeeperState& known) {
    return std::exchange(known.refuses, !found) == found.has_value();
  };
  if (!keeper_.With(note)) return;
  if (found) {
    Diagnose(DiagnosticLevel::kInfo, "the keeper at " + socket_ + " starts supervisors again");
  } else {
    Diagnose(DiagnosticLevel::kWarning, "no replica can be started now: " + found.error().message);
  }
}

Result<UniqueFd> KeeperStarter::Start(const SupervisorStart& start) {
  TY_TRY(StartMessage message, MakeStartMessage(start));
  const std::vector<std::string> variables = SupervisorVariables();
  message.request.mutable_start()->mutable_environment()->Assign(variables.begin(), variables.end());
  TY_TRY(KeeperCall call, KeeperCall::Begin(socket_));
  UniqueFd pidfd;
  const auto started = call.Ask(message.request, keeper::Answer::kStarted, message.descriptors, &pidfd);
  if (!started) return std::unexpected(Passing(started.error()));
  if (!pidfd) return std::unexpected(Internal("the keeper gave no pidfd"));
  TY_RETURN_IF_ERROR(replica::SignLock(start.lock, static_cast<pid_t>(started->started().pid())));
  return pidfd;
}

}  // namespace trainyard::engine
