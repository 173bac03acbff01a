#include "programs/sandbox/network/network_owner.h"

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/nsfs.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "base/async/unix_socket.h"
#include "base/process/kernel_calls.h"
#include "programs/sandbox/namespaces/id_map.h"

namespace trainyard::replica {

namespace {

/// A netlink request in the making: a header, then attributes that may be nested.
class LinkRequest {
 public:
  explicit LinkRequest(std::uint16_t type) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    if (type == RTM_NEWLINK) header.nlmsg_flags |= NLM_F_CREATE | NLM_F_EXCL;
    Append(&header, sizeof header);
  }

  void Add(const ifinfomsg& link) { Append(&link, sizeof link); }
  void Add(unsigned short type, std::string_view value) {
    const rtattr attribute{.rta_len = static_cast<unsigned short>(RTA_LENGTH(value.size())),
                           .rta_type = type};
    Append(&attribute, sizeof attribute);
    Append(value.data(), value.size());
  }
  void AddText(unsigned short type, const std::string& text) { Add(type, {text.c_str(), text.size() + 1}); }
  void AddNumber(unsigned short type, std::uint32_t number) {
    Add(type, {reinterpret_cast<const char*>(&number), sizeof number});
  }
  [[nodiscard]] std::size_t Begin(unsigned short type) {
    const std::size_t begin = bytes_.size();
    Add(type, {});
    return begin;
  }
  void End(std::size_t begin) {
    const auto size = static_cast<unsigned short>(bytes_.size() - begin);
    std::memcpy(bytes_.data() + begin, &size, sizeof size);  // rta_len is the first member
  }

  [[nodiscard]] Status Send(std::string_view what) {
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &size, sizeof size);  // nlmsg_len is the first member
    const UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!socket) return std::unexpected(ErrnoError(errno, "netlink socket"));
    if (send(socket.get(), bytes_.data(), bytes_.size(), 0) < 0)
      return std::unexpected(ErrnoError(errno, what));
    alignas(nlmsghdr) std::array<char, 4096> answer{};
    const ssize_t received = recv(socket.get(), answer.data(), answer.size(), 0);
    nlmsgerr outcome{};
    if (received < static_cast<ssize_t>(NLMSG_LENGTH(sizeof outcome)))
      return std::unexpected(Internal(std::string(what) + ": no answer of the kernel"));
    std::memcpy(&outcome, answer.data() + NLMSG_HDRLEN, sizeof outcome);
    if (outcome.error != 0) return std::unexpected(ErrnoError(-outcome.error, what));
    return {};
  }

 private:
  void Append(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
    bytes_.append((4 - bytes_.size() % 4) % 4, '\0');
  }
  std::string bytes_;
};

template <class Fill>
Status Control(const std::string& link, unsigned long request, std::string_view what, Fill fill) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return std::unexpected(ErrnoError(errno, "socket"));
  ifreq order{};
  link.copy(order.ifr_name, sizeof order.ifr_name - 1);
  fill(order);
  if (ioctl(socket.get(), request, &order) != 0)
    return std::unexpected(ErrnoError(errno, std::string(what) + " of " + link));
  return {};
}

void FillAddress(sockaddr& to, std::uint32_t address) {
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(address);
  std::memcpy(&to, &from, sizeof to);
}

/// Locally administered (02:77), then the IPv4 address.
std::string HardwareAddress(std::uint32_t address) {
  std::string bytes = "\x02\x77";
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(address >> shift & 255);
  return bytes;
}

/// A child's reply: one packet, with the network's descriptor if there is one.
struct Packet {
  bool done = false;
  Code code = Code::kInternal;
  pid_t process = -1;
  std::array<char, 512> message{};
};

bool Send(int socket, const Packet& packet, int network) {
  return SendWithDescriptor(socket, std::as_bytes(std::span(&packet, 1)), network);
}

bool Send(int socket, const Result<ChildReply>& result) {
  if (result) return Send(socket, {.done = true, .process = result->process}, result->network.get());
  Packet packet{.code = result.error().code};
  result.error().message.copy(packet.message.data(), packet.message.size() - 1);
  return Send(socket, packet, -1);
}

Result<ChildReply> Receive(int socket) {
  Packet packet;
  ChildReply reply;
  const auto size =
      ReceiveWithDescriptor(socket, std::as_writable_bytes(std::span(&packet, 1)), reply.network);
  if (size != static_cast<ssize_t>(sizeof packet))
    return std::unexpected(Internal("a child of the supervisor was killed"));
  if (!packet.done) return std::unexpected(Error{packet.code, packet.message.data(), {}});
  reply.process = packet.process;
  return reply;
}

/// Becomes root of the namespace; for a new one, once our parent has mapped its ids.
Status BecomeOwner(int owner, int parent) {
  if (owner == kNoOwner) return {};
  if (owner == kNewOwner) {
    char mapped = 0;
    while (recv(parent, &mapped, 1, 0) < 0 && errno == EINTR) {
    }
    if (mapped == 0) return std::unexpected(Internal("the supervisor has ended"));
  } else if (setns(owner, CLONE_NEWUSER) != 0) {
    return std::unexpected(ErrnoError(errno, "enter the networks' user namespace"));
  }
  return {};  // and root: our user is mapped to it
}

[[noreturn]] void RunChild(int owner, int parent, pid_t parent_pid,
                           const std::function<Result<ChildReply>()>& function) {
  const Status became = BecomeOwner(owner, parent);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // not earlier: a change of credentials may clear it
  if (getppid() != parent_pid) _exit(1);
  const bool said = Send(parent, became ? function() : Result<ChildReply>(std::unexpected(became.error())));
  _exit(said ? 0 : 1);
}

}  // namespace

Status MakeBridge(const std::string& name) {
  LinkRequest request(RTM_NEWLINK);
  request.Add(ifinfomsg{});
  request.AddText(IFLA_IFNAME, name);
  const std::size_t info = request.Begin(IFLA_LINKINFO);
  request.Add(IFLA_INFO_KIND, "bridge");
  request.End(info);
  TY_RETURN_IF_ERROR(request.Send("make a bridge"));
  return SetUp(name);
}

Status MakePort(const std::string& bridge, const std::string& name, const PortPeer& peer) {
  const unsigned bridge_index = if_nametoindex(bridge.c_str());
  if (bridge_index == 0) return std::unexpected(ErrnoError(errno, "find the bridge " + bridge));
  LinkRequest request(RTM_NEWLINK);
  ifinfomsg port{};
  port.ifi_flags = port.ifi_change = IFF_UP;
  request.Add(port);
  request.AddText(IFLA_IFNAME, name);
  request.AddNumber(IFLA_MASTER, bridge_index);
  const std::size_t info = request.Begin(IFLA_LINKINFO);
  request.Add(IFLA_INFO_KIND, "veth");
  const std::size_t data = request.Begin(IFLA_INFO_DATA);
  const std::size_t other = request.Begin(VETH_INFO_PEER);
  request.Add(ifinfomsg{});
  request.AddText(IFLA_IFNAME, peer.name);
  request.AddNumber(IFLA_NET_NS_FD, static_cast<std::uint32_t>(peer.network));
  request.Add(IFLA_ADDRESS, HardwareAddress(peer.address));
  request.End(other);
  request.End(data);
  request.End(info);
  return request.Send("make a port of the bridge");
}

Status RemoveLink(const std::string& name) {
  if (if_nametoindex(name.c_str()) == 0) return {};
  LinkRequest request(RTM_DELLINK);
  request.Add(ifinfomsg{});
  request.AddText(IFLA_IFNAME, name);
  const Status removed = request.Send("remove the link " + name);
  if (!removed && if_nametoindex(name.c_str()) == 0) return {};  // it was removed meanwhile
  return removed;
}

Status SetUp(const std::string& link) {
  return Control(link, SIOCSIFFLAGS, "set the flags",
                 [](ifreq& order) { order.ifr_flags = IFF_UP | IFF_RUNNING; });
}

void NoticeCarrier(const std::string& link) {
  ethtool_value state{.cmd = ETHTOOL_GLINK, .data = 0};
  static_cast<void>(Control(link, SIOCETHTOOL, "ask for the carrier",
                            [&state](ifreq& order) { order.ifr_data = reinterpret_cast<char*>(&state); }));
}

Status SetAddress(const std::string& link, std::uint32_t address, int prefix) {
  TY_RETURN_IF_ERROR(Control(link, SIOCSIFADDR, "set the address",
                             [address](ifreq& order) { FillAddress(order.ifr_addr, address); }));
  return Control(link, SIOCSIFNETMASK, "set the network mask", [prefix](ifreq& order) {
    FillAddress(order.ifr_netmask, ~std::uint32_t{0} << (32 - prefix));
  });
}

Result<std::uint32_t> ParseAddress(const std::string& text) {
  in_addr address{};
  if (inet_pton(AF_INET, text.c_str(), &address) != 1)
    return std::unexpected(InvalidArgument("address", "'" + text + "' is not an IPv4 address"));
  return ntohl(address.s_addr);
}

Result<ChildReply> RunInChild(int owner, const std::function<Result<ChildReply>()>& function) {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return std::unexpected(ErrnoError(errno, "socketpair"));
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);
  const pid_t self = getpid();
  // As in Sandbox::Start: we have one thread, so that the child may use the heap.
  const unsigned long flags = SIGCHLD | (owner == kNewOwner ? CLONE_NEWUSER : 0);
  const auto child = static_cast<pid_t>(syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr));
  if (child < 0)
    return std::unexpected(ErrnoError(errno, owner == kNewOwner ? "make a user namespace" : "fork"));
  if (child == 0) {
    ours.Reset();
    RunChild(owner, theirs.get(), self, function);
  }
  theirs.Reset();
  const Status mapped = owner == kNewOwner ? MapRoot(child) : Status();
  constexpr char kMapped = 'M';
  if (mapped && owner == kNewOwner) send(ours.get(), &kMapped, 1, MSG_NOSIGNAL);
  if (!mapped) ours.Reset();
  Result<ChildReply> reply = mapped ? Receive(ours.get()) : std::unexpected(mapped.error());
  WaitForChild(child);
  return reply;
}

Result<UniqueFd> OwnerOf(int network) {
  UniqueFd owner(ioctl(network, NS_GET_USERNS));  // closed on exec
  if (!owner) return std::unexpected(ErrnoError(errno, "find the owner of a network"));
  return owner;
}

Status EnterNetwork(int network) {
  if (setns(network, CLONE_NEWNET) != 0)
    return std::unexpected(ErrnoError(errno, "enter the network namespace"));
  return {};
}

}  // namespace trainyard::replica
