#include "replica/keeper/keeper.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/random_bytes.h"
#include "base/number.h"
#include "base/process/descriptor_limit.h"
#include "base/process/kernel_calls.h"
#include "base/process/variables.h"
#include "base/systemd/notify_socket.h"
#include "base/systemd/service_variables.h"
#include "base/systemd/unit_place.h"
#include "replica/keeper/keeper_message.h"

namespace trainyard::keeper {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// After this time it checks again whether groups that were in use can be removed.
constexpr int kIdleMilliseconds = 60'000;

Result<UniqueFd> TakeLock(const std::string& socket) {
  TY_TRY(UniqueFd lock, OpenFile(socket + ".lock", O_RDWR | O_CREAT, 0600));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK)
    return std::unexpected(Error{Code::kAlreadyExists, "a keeper listens at " + socket + " already", {}});
  return std::unexpected(ErrnoError(errno, "lock " + socket + ".lock"));
}

/// The client does not wait for the answer any more, so the request is not wanted.
bool HasHungUp(int socket) {
  pollfd state{.fd = socket, .events = POLLRDHUP, .revents = 0};
  return poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/// "pid:[4026531836]"; empty: there is no such process, or it may not be inspected.
std::string PidNamespaceOf(const std::string& process) {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/" + process + "/ns/pid", failed).string();
}

constexpr mode_t kUmask = 077;
constexpr int kStopSecondsMax = 86'400;

std::optional<KeeperOptions> ParseArguments(int argc, char** argv) {
  KeeperOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    const std::string_view value = argv[i + 1];
    if (flag == "--socket") {
      options.socket = value;
    } else if (flag == "--stop-timeout") {
      const int seconds = WholeNumber<int>(value).value_or(-1);
      if (seconds < 0 || seconds > kStopSecondsMax) return std::nullopt;
      options.stop_max = std::chrono::seconds(seconds);
    } else if (flag == "--server-unit" && !value.empty()) {
      options.server_unit = value;
    } else {
      return std::nullopt;
    }
  }
  if (argc % 2 == 0 || !options.socket.starts_with('/')) return std::nullopt;
  return options;
}

Status Keep(KeeperOptions options) {
  if (options.server_unit.empty())
    Diagnose(
        DiagnosticLevel::kWarning,
        "any process of root or of this account may have supervisors started, because --server-unit does not "
        "name the server's unit");
  TY_TRY(const std::unique_ptr<Keeper> keeper, Keeper::Open(std::move(options)));
  if (const Status told = systemd::Notify(systemd::kNotifyReady); !told)
    Diagnose(DiagnosticLevel::kWarning, told.error().message);
  return keeper->Run();
}

}  // namespace

Result<std::unique_ptr<Keeper>> Keeper::Open(KeeperOptions options) {
  TY_TRY(UniqueFd lock, TakeLock(options.socket));
  UniqueFd signals = OpenSignals({SIGTERM, SIGINT, SIGHUP});
  if (!signals) return std::unexpected(ErrnoError(errno, "signalfd"));
  SupervisorList supervisors(UnitGroups::Find(), {.main = options.supervisor_main});
  TY_TRY(UniqueFd listener, ListenForPackets(options.socket));
  return std::unique_ptr<Keeper>(new Keeper(std::move(options), std::move(lock), std::move(listener),
                                            std::move(signals), std::move(supervisors)));
}

Keeper::Keeper(KeeperOptions options, UniqueFd lock, UniqueFd listener, UniqueFd signals,
               SupervisorList supervisors)
    : options_(std::move(options)),
      program_(RealPath("/proc/self/exe")),
      root_(systemd::FindManagersRoot(ReadFile("/proc/self/cgroup").value_or(""))),
      variables_(OwnVariables(systemd::WithoutServiceVariables())),
      instance_(RandomBytes<std::uint64_t>()),
      lock_(std::move(lock)),
      listener_(std::move(listener)),
      signals_(std::move(signals)),
      supervisors_(std::move(supervisors)) {
  if (!supervisors_.empty())
    Diagnose(DiagnosticLevel::kInfo,
             "took over " + std::to_string(supervisors_.size()) + " supervisors of an earlier keeper");
}

Status Keeper::Run() {
  while (!stop_deadline_ || !supervisors_.empty()) {
    if (stop_deadline_ && steady_clock::now() >= *stop_deadline_) break;
    Round();
  }
  unlink(options_.socket.c_str());
  return supervisors_.Kill(kKillWait);  // also processes that supervisors left in their groups
}

int Keeper::PollWait() const {
  auto until = steady_clock::now() + milliseconds(kIdleMilliseconds);
  if (stop_deadline_) until = std::min(until, *stop_deadline_);
  for (const Client& client : clients_) until = std::min(until, client.heard + options_.client_silence_max);
  const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
  return static_cast<int>(std::clamp<milliseconds::rep>(left.count(), 0, kIdleMilliseconds));
}

void Keeper::DropSilent() {
  const auto silent_since = steady_clock::now() - options_.client_silence_max;
  std::erase_if(clients_, [silent_since](const Client& client) { return client.heard <= silent_since; });
}

void Keeper::Round() {
  std::vector<pollfd> waited = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                {.fd = listener_.get(), .events = POLLIN, .revents = 0}};
  const std::size_t first_client = waited.size();
  for (const Client& client : clients_)
    waited.push_back({.fd = client.socket.get(), .events = POLLIN, .revents = 0});
  supervisors_.AddTo(waited);
  if (poll(waited.data(), waited.size(), PollWait()) < 0) return;
  supervisors_.Reap();
  std::vector<Client> clients = std::exchange(clients_, {});
  for (std::size_t i = 0; i < clients.size(); ++i) {
    if (waited[first_client + i].revents == 0 || Serve(clients[i])) clients_.push_back(std::move(clients[i]));
  }
  DropSilent();
  if (waited[1].revents != 0) Accept();
  if (waited[0].revents != 0) BeginStop();
}

/// A job's program, or a shell in it, may be root as well, so the account alone proves little. But it is in
/// its job's PID namespace, and in another unit. The shell was forked by the server and may still be in its
/// unit in some hierarchy of version 1.
std::string Keeper::WhyNot(const ucred& peer) const {
  const bool may = options_.may_speak ? options_.may_speak(peer.uid) : peer.uid == 0 || peer.uid == geteuid();
  if (!may) return "only root and the keeper's own account may ask";
  const std::string pid_namespace = peer.pid > 0 ? PidNamespaceOf(std::to_string(peer.pid)) : "";
  if (pid_namespace.empty()) return "it has ended, or is hidden from this keeper";
  if (pid_namespace != PidNamespaceOf("self"))
    return "it is in another PID namespace, as programs of jobs are";
  if (options_.server_unit.empty()) return {};
  const auto membership = ReadFile("/proc/" + std::to_string(peer.pid) + "/cgroup");
  const std::string unit = peer.pid > 0 && membership ? systemd::FindOuterUnit(*membership, root_) : "";
  if (unit == options_.server_unit) return {};
  return "it is in " + (unit.empty() ? "no unit" : unit) + ", and only " + options_.server_unit +
         " may ask (--server-unit)";
}

Result<StartRequest> Keeper::Admit(StartRequest request) const {
  return options_.admit ? options_.admit(std::move(request))
                        : AsSupervisor(std::move(request), program_, variables_);
}

void Keeper::Accept() {
  UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return;
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  if (const std::string why = WhyNot(peer); !why.empty()) {
    Diagnose(DiagnosticLevel::kWarning, "refused process " + std::to_string(peer.pid) + " of user " +
                                            std::to_string(peer.uid) + ": " + why);
    return;
  }
  if (clients_.size() == kClientsMax) clients_.erase(std::ranges::min_element(clients_, {}, &Client::heard));
  clients_.push_back({.socket = std::move(socket), .heard = steady_clock::now()});
}

bool Keeper::Send(const Client& client, const Answer& answer, std::span<const int> descriptors) const {
  return SendPacket(client.socket.get(), answer.SerializeAsString(), descriptors).has_value();
}

bool Keeper::Serve(Client& client) {
  const Result<Packet> packet = ReceivePacket(client.socket.get());
  if (!packet) return false;
  client.heard = steady_clock::now();
  const Result<Request> request = ParseRequest(packet->bytes);
  if (!client.greeted) {
    if (!request || !request->has_hello()) return false;
    const Hello& hello = request->hello();
    if (hello.version_min() > kVersion || hello.version_max() < 1) {
      const std::string text = "this keeper speaks version " + std::to_string(kVersion) + " of its protocol";
      std::ignore = Send(client, Refusal(Error{Code::kUnimplemented, text, {}}));
      return false;
    }
    client.greeted = true;
    Answer answer;
    answer.mutable_hello()->set_version(std::min(kVersion, hello.version_max()));
    answer.mutable_hello()->set_instance(instance_);
    return Send(client, answer);
  }
  if (!request) return Send(client, Refusal(request.error()));
  if (request->has_start()) return Start(client, request->start(), *packet);
  if (!request->has_limits()) return Send(client, Refusal(InvalidArgument("", "Hello was said before")));
  const std::string& installation = request->limits().installation();
  if (!IsGroupName(installation) || installation == kOwnLeaf)
    return Send(client, Refusal(InvalidArgument("installation", "this is no name for a group")));
  Answer answer;
  *answer.mutable_limits() = supervisors_.groups().Limits(installation);
  return Send(client, answer);
}

bool Keeper::Start(const Client& client, const StartRequest& request, const Packet& packet) {
  if (stop_deadline_) return Send(client, Refusal(Unavailable("the keeper is stopping")));
  if (HasHungUp(client.socket.get())) return false;
  const Result<StartRequest> admitted = Admit(request);
  const Result<SupervisorList::New> started =
      admitted ? supervisors_.Start(*admitted, packet.descriptors) : std::unexpected(admitted.error());
  if (!started) {
    Diagnose(DiagnosticLevel::kWarning, request.name() + " is not started: " + started.error().message);
    return Send(client, Refusal(started.error()));
  }
  const int pidfd = started->pidfd;
  Answer answer;
  answer.mutable_started()->set_pid(static_cast<std::uint32_t>(started->pid));
  return Send(client, answer, std::span(&pidfd, 1));
}

/// A second signal changes nothing: systemd kills a process that takes too long.
void Keeper::BeginStop() {
  signalfd_siginfo received{};
  bool stops = false;
  while (read(signals_.get(), &received, sizeof(received)) > 0) stops = stops || received.ssi_signo != SIGHUP;
  if (!stops || stop_deadline_) return;
  stop_deadline_ = steady_clock::now() + options_.stop_max;
  std::ignore = systemd::Notify(systemd::kNotifyStopping);
  Diagnose(DiagnosticLevel::kInfo,
           "stopping: " + std::to_string(supervisors_.size()) +
               " supervisors are told to end, and killed after " +
               std::to_string(std::chrono::floor<std::chrono::seconds>(options_.stop_max).count()) + " s");
  supervisors_.Terminate();
}

int RunKeeper(int argc, char** argv, SupervisorMain main) {
  auto options = ParseArguments(argc, argv);
  if (!options) {
    std::fputs(
        "usage: trainyard keeper --socket /ABSOLUTE/PATH [--server-unit UNIT] [--stop-timeout SECONDS]\n",
        stderr);
    return 2;
  }
  options->supervisor_main = main;
  close_range(STDERR_FILENO + 1, ~0U, 0);
  prctl(PR_SET_NAME, "trainyard-keep");
  umask(kUmask);
  std::ignore = chdir("/");
  std::signal(SIGPIPE, SIG_IGN);  // the reader of our messages may disconnect
  RaiseDescriptorLimit();         // each running one needs a pidfd; they get the old limit
  const Status kept = Keep(*std::move(options));
  if (kept) return 0;
  Diagnose(DiagnosticLevel::kError, kept.error().message);
  return 1;
}

}  // namespace trainyard::keeper
