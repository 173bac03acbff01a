#include "engine/local/keeper_starter.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/process/child_process.h"
#include "base/process/variables.h"
#include "base/systemd/service_variables.h"
#include "replica/keeper/keeper_message.h"

namespace trainyard::engine {

namespace {

using std::chrono::milliseconds;

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
    pollfd answered{.fd = connection_.get(), .events = POLLIN, .revents = 0};
    if (poll(&answered, 1, static_cast<int>(milliseconds(kKeeperAnswerMax).count())) <= 0)
      return std::unexpected(DoesNotAnswer(socket_));
    auto packet = keeper::ReceivePacket(connection_.get());
    if (!packet) return std::unexpected(DoesNotAnswer(socket_));
    TY_TRY(keeper::Answer answer, keeper::ParseAnswer(packet->bytes));
    if (answer.has_refused())
      return std::unexpected(
          Error{static_cast<Code>(answer.refused().code()), answer.refused().message(), {}});
    if (received != nullptr && !packet->descriptors.empty())
      *received = std::move(packet->descriptors.front());
    if (answer.answer_case() == wanted) return answer;
    return std::unexpected(Internal("the keeper at " + socket_ + " answers something else"));
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

}  // namespace

Result<SupervisorStreams> OpenStreams(const SupervisorStart& start) {
  SupervisorStreams streams;
  TY_TRY(streams.log, OpenFile(start.dir.SupervisorLog(), O_WRONLY | O_CREAT | O_APPEND, 0600));
  streams.descriptors = {{streams.log.get(), STDOUT_FILENO},
                         {streams.log.get(), STDERR_FILENO},
                         {start.lock, replica::kInheritedLockFd}};
  if (start.secrets >= 0) streams.descriptors.emplace_back(start.secrets, STDIN_FILENO);
  return streams;
}

std::vector<std::string> SupervisorVariables() { return OwnVariables(systemd::WithoutServiceVariables()); }

Result<UniqueFd> ForkingStarter::Start(const SupervisorStart& start) {
  TY_TRY(SupervisorStreams streams, OpenStreams(start));
  SpawnOptions options{.argv = start.argv,
                       .program = start.program,
                       .environment = SupervisorVariables(),
                       .descriptors = std::move(streams.descriptors),
                       .group = ProcessGroup::kSession,
                       .action = "start the supervisor"};
  TY_TRY(ChildProcess supervisor, ChildProcess::Spawn(std::move(options)));
  const pid_t pid = supervisor.pid();
  UniqueFd pidfd = std::move(supervisor).Detach();
  TY_RETURN_IF_ERROR(replica::SignLock(start.lock, pid));
  return pidfd;
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
  TY_TRY(const SupervisorStreams streams, OpenStreams(start));
  keeper::Request message;
  keeper::StartRequest& request = *message.mutable_start();
  request.set_name(start.name);
  request.set_program(start.program);
  request.mutable_arguments()->Assign(start.argv.begin(), start.argv.end());
  const std::vector<std::string> variables = SupervisorVariables();
  request.mutable_environment()->Assign(variables.begin(), variables.end());
  std::vector<int> descriptors;
  for (const auto& [ours, theirs] : streams.descriptors) {
    descriptors.push_back(ours);
    request.add_numbers(static_cast<std::uint32_t>(theirs));
  }
  TY_TRY(KeeperCall call, KeeperCall::Begin(socket_));
  UniqueFd pidfd;
  const auto started = call.Ask(message, keeper::Answer::kStarted, descriptors, &pidfd);
  if (!started) return std::unexpected(Passing(started.error()));
  if (!pidfd) return std::unexpected(Internal("the keeper gave no pidfd"));
  TY_RETURN_IF_ERROR(replica::SignLock(start.lock, static_cast<pid_t>(started->started().pid())));
  return pidfd;
}

}  // namespace trainyard::engine
