#include "programs/sandbox/network/replica_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/async/file.h"
#include "base/process/kernel_calls.h"
#include "programs/sandbox/namespaces/namespace_check.h"
#include "programs/sandbox/network/network_owner.h"
#include "programs/sandbox/network/relay.h"

namespace trainyard::replica {

namespace {

constexpr const char* kOwnNetwork = "/proc/self/ns/net";
constexpr const char* kBridge = "switch";
constexpr const char* kLink = "eth0";
constexpr int kPrefix = 16;  ///< 10.77.0.0/16

/// Brings the thread back into the network where it was made.
class NetworkReturn {
 public:
  [[nodiscard]] static Result<NetworkReturn> Here() {
    TY_TRY(UniqueFd home, OpenFile(kOwnNetwork, O_RDONLY));
    return NetworkReturn(std::move(home));
  }
  NetworkReturn(NetworkReturn&&) noexcept = default;
  NetworkReturn& operator=(NetworkReturn&&) = delete;
  ~NetworkReturn() {
    if (home_) setns(home_.get(), CLONE_NEWNET);
  }

 private:
  explicit NetworkReturn(UniqueFd home) : home_(std::move(home)) {}
  UniqueFd home_;
};

/// Makes a network namespace; the thread is in it afterwards.
Result<UniqueFd> MakeNetwork() {
  if (unshare(CLONE_NEWNET) != 0) return std::unexpected(ErrnoError(errno, "make a network namespace"));
  TY_RETURN_IF_ERROR(SetUp("lo"));
  return OpenFile(kOwnNetwork, O_RDONLY);
}

/// The network of the attempt's relay, which is recognised by its working directory, the attempt's. Empty if
/// it is gone.
UniqueFd NetworkOfRelay(const AttemptDir& dir) {
  const auto text = ReadFile(dir.Relay());
  if (!text) return {};
  const std::string process = "/proc/" + text->substr(0, text->find('\n'));
  auto network = OpenFile(process + "/ns/net", O_RDONLY);
  std::error_code error;  // checked after the open, so the network belongs to this process
  const auto folder = std::filesystem::read_symlink(process + "/cwd", error);
  if (!network || error || !std::filesystem::equivalent(folder, dir.path, error) || error) return {};
  return std::move(*network);
}

/// The job's switch if one of its replicas keeps it. Call it with the lock of the attempts' directory.
UniqueFd FindSwitch(const std::filesystem::path& attempts, std::int64_t job_uid) {
  const std::string prefix = std::to_string(job_uid) + "-";
  for (const std::filesystem::path& entry : PathsIn(attempts)) {
    if (!entry.filename().string().starts_with(prefix)) continue;
    if (UniqueFd found = NetworkOfRelay({entry.string()})) return found;
  }
  return {};
}

/// The thread is in its network afterwards.
Status EnterSwitch(const UniqueFd& found) {
  if (found) return EnterNetwork(found.get());
  TY_TRY(const UniqueFd made, MakeNetwork());
  return MakeBridge(kBridge);
}

Result<UniqueFd> ListenOnLoopback(int port) {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (!listener || bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0) {
    return std::unexpected(ErrnoError(errno, "listen for the server"));
  }
  return listener;
}

/// Opens listeners on the loopback of the thread's network.
Result<std::vector<RelayDoor>> OpenDoors(const std::vector<ReplicaNetwork::Door>& doors) {
  std::vector<RelayDoor> open;
  for (const ReplicaNetwork::Door& door : doors) {
    TY_TRY(UniqueFd listener, ListenOnLoopback(door.port));
    open.push_back({std::move(listener), door.socket});
  }
  return open;
}

/// The relay must not keep pipes, locks and connections of the supervisor.
void CloseAllBut(std::vector<int> kept) {
  std::ranges::sort(kept);
  unsigned next = 3;
  for (const int descriptor : kept) {
    const auto number = static_cast<unsigned>(descriptor);
    if (number > next) close_range(next, number - 1, 0);
    next = std::max(next, number + 1);
  }
  close_range(next, ~0U, 0);
}

/// Call it with the thread in the switch's network; the child stays there. Returns once the child's working
/// directory is the attempt's, by which NetworkOfRelay recognises it. `supervisor`: this process, or our
/// parent, which then is also the relay's.
Result<pid_t> StartRelay(const std::vector<RelayDoor>& doors, const ReplicaNetwork::Plan& plan,
                         pid_t supervisor) {
  TY_TRY(Pipe alive, MakePipe());
  const unsigned long parent = getpid() == supervisor ? 0 : CLONE_PARENT;
  const auto relay =
      static_cast<pid_t>(syscall(SYS_clone, parent | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (relay < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (relay == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "trainyard-relay");
    if (getppid() != supervisor || chdir(plan.dir.path.c_str()) != 0) _exit(1);
    std::vector<int> kept;
    for (const RelayDoor& door : doors) kept.push_back(door.listener.get());
    if (plan.lock_fd >= 0) kept.push_back(plan.lock_fd);
    CloseAllBut(std::move(kept));  // the pipe's end too
    RunRelay(doors);
    _exit(1);
  }
  alive.write.Reset();
  char none = 0;
  while (read(alive.read.get(), &none, 1) < 0 && errno == EINTR) {
  }
  return relay;
}

/// The link to the switch, in the replica's network.
Status SetUpLink(int network, std::uint32_t address) {
  TY_TRY(const NetworkReturn back, NetworkReturn::Here());
  TY_RETURN_IF_ERROR(EnterNetwork(network));
  TY_RETURN_IF_ERROR(SetAddress(kLink, address, kPrefix));
  TY_RETURN_IF_ERROR(SetUp(kLink));
  NoticeCarrier(kLink);
  return {};
}

/// Connects the namespace `network` with the switch that the thread is in. The network of the previous
/// attempt may still exist: closed connections keep it for a minute, until the other side has closed them as
/// well.
Status PlugIn(int network, std::uint32_t address) {
  const std::string port = "port" + std::to_string(address & 0xFFFF);
  TY_RETURN_IF_ERROR(RemoveLink(port));
  TY_RETURN_IF_ERROR(MakePort(kBridge, port, {.network = network, .name = kLink, .address = address}));
  TY_RETURN_IF_ERROR(SetUpLink(network, address));
  NoticeCarrier(port);
  return {};
}

Status TryIsolatedNetwork() {
  TY_TRY(const UniqueFd network, MakeNetwork());
  TY_TRY(const UniqueFd own_switch, MakeNetwork());
  TY_RETURN_IF_ERROR(MakeBridge(kBridge));
  return PlugIn(network.get(), 10U << 24 | 77U << 16 | 257U);
}

/// The replica's own side.
struct Side {
  UniqueFd network;
  std::vector<RelayDoor> doors;
  std::uint32_t address;
};

/// The thread is in its network afterwards.
Result<Side> MakeSide(const ReplicaNetwork::Plan& plan) {
  TY_TRY(const std::uint32_t address, ParseAddress(plan.address));
  TY_TRY(UniqueFd network, MakeNetwork());
  TY_TRY(std::vector<RelayDoor> doors, OpenDoors(plan.doors));
  return Side{std::move(network), std::move(doors), address};
}

/// Connects the replica's side with the job's switch (empty: there is none yet) by way of a relay. The thread
/// is in the switch's network afterwards.
Result<pid_t> Connect(const Side& side, const UniqueFd& found, const ReplicaNetwork::Plan& plan,
                      pid_t supervisor) {
  TY_RETURN_IF_ERROR(EnterSwitch(found));
  TY_RETURN_IF_ERROR(PlugIn(side.network.get(), side.address));
  return StartRelay(side.doors, plan, supervisor);
}

struct Attempts {
  std::filesystem::path path;
  UniqueFd lock;  ///< one supervisor at a time looks for switches and makes them
};

Result<Attempts> LockAttempts(const AttemptDir& dir) {
  const std::filesystem::path path = std::filesystem::path(dir.path).parent_path();
  TY_TRY(UniqueFd lock, OpenFile(path, O_RDONLY | O_DIRECTORY));
  if (flock(lock.get(), LOCK_EX) != 0) return std::unexpected(ErrnoError(errno, "lock the attempts"));
  return Attempts{path, std::move(lock)};
}

/// What the operator can do; an alternative follows this text.
std::string Advice(const std::string& reason, bool is_root) {
  if (reason.ends_with(std::strerror(EOPNOTSUPP)))
    return "the kernel lacks bridges or veth (as root: modprobe -a bridge veth); or ";
  if (is_root) return "run as root on a machine that allows network namespaces, or ";
  return NamespaceAdvice(ReadNamespaceSettings()) + "; or ";
}

Status NoteRelay(const AttemptDir& dir, pid_t relay) {
  TY_TRY(const UniqueFd note, OpenFile(dir.Relay(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
  return WriteAll(note.get(), std::to_string(relay) + "\n");
}

}  // namespace

Result<ReplicaNetwork> ReplicaNetwork::Create(const Plan& plan) {
  return geteuid() == 0 ? CreateAsRoot(plan) : CreateAsUser(plan);
}

Result<ReplicaNetwork> ReplicaNetwork::CreateAsRoot(const Plan& plan) {
  TY_TRY(const NetworkReturn back, NetworkReturn::Here());
  TY_TRY(Side side, MakeSide(plan));
  TY_TRY(const Attempts attempts, LockAttempts(plan.dir));
  TY_TRY(const pid_t relay, Connect(side, FindSwitch(attempts.path, plan.job_uid), plan, getpid()));
  ReplicaNetwork made(std::move(side.network), {}, relay);
  TY_RETURN_IF_ERROR(NoteRelay(plan.dir, relay));
  return made;
}

Result<ReplicaNetwork> ReplicaNetwork::CreateAsUser(const Plan& plan) {
  TY_TRY(const Attempts attempts, LockAttempts(plan.dir));
  const UniqueFd found = FindSwitch(attempts.path, plan.job_uid);
  UniqueFd owner;
  if (found) {
    TY_TRY(owner, OwnerOf(found.get()));
  }
  const pid_t supervisor = getpid();
  const auto make = [&]() -> Result<ChildReply> {
    TY_TRY(Side side, MakeSide(plan));
    TY_TRY(const pid_t relay, Connect(side, found, plan, supervisor));
    return ChildReply{.process = relay, .network = std::move(side.network)};
  };
  TY_TRY(ChildReply reply, RunInChild(found ? owner.get() : kNewOwner, make));
  if (!found) {
    TY_TRY(owner, OwnerOf(reply.network.get()));
  }
  ReplicaNetwork made(std::move(reply.network), std::move(owner), reply.process);
  TY_RETURN_IF_ERROR(NoteRelay(plan.dir, reply.process));
  return made;
}

ReplicaNetwork::ReplicaNetwork(ReplicaNetwork&& other) noexcept
    : network_(std::move(other.network_)),
      owner_(std::move(other.owner_)),
      relay_(std::exchange(other.relay_, -1)) {}

ReplicaNetwork::~ReplicaNetwork() {
  if (relay_ < 0) return;
  kill(relay_, SIGKILL);
  WaitForChild(relay_);
}

Status CheckIsolatedNetworks() {
  const bool is_root = geteuid() == 0;
  const auto try_it = []() -> Result<ChildReply> {
    TY_RETURN_IF_ERROR(TryIsolatedNetwork());
    return ChildReply();
  };
  const Result<ChildReply> tried = RunInChild(is_root ? kNoOwner : kNewOwner, try_it);
  if (tried) return {};
  const std::string& reason = tried.error().message;
  return std::unexpected(FailedPrecondition("--network isolated is not possible here (" + reason +
                                            "): " + Advice(reason, is_root) + "use --network host"));
}

}  // namespace trainyard::replica
