#include "engine/remote/agents_address.h"

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <memory>
#include <sstream>
#include <utility>

#include "base/async/file.h"

namespace trainyard::engine {

namespace {

/// Any port will do: nothing is sent to it.
constexpr const char* kPortOfNobody = "9";

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses Resolve(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), kPortOfNobody, &hints, &found) != 0) found = nullptr;
  return {found, &::freeaddrinfo};
}

/// The local address of a datagram socket that is connected to `towards`: the kernel chooses it by the route.
std::string OwnAddress(const addrinfo& towards) {
  const UniqueFd socket(::socket(towards.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), towards.ai_addr, towards.ai_addrlen) != 0) return {};
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(reinterpret_cast<sockaddr*>(&own), size, host.data(), host.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0)
    return {};
  return host.data();
}

Result<std::string> FindHost(const std::string& kept, std::span<const slurm::Node> nodes) {
  std::vector<std::string> hosts;
  for (const slurm::Node& node : nodes)
    if (!node.address.empty()) hosts.push_back(node.address);
  if (std::string found = OwnAddressTowards(hosts); !found.empty()) return found;
  if (!kept.empty()) return kept;
  return std::unexpected(
      FailedPrecondition("the address at which the cluster's nodes reach this server is not known: name it "
                         "with --agent-listen HOST:PORT"));
}

/// "HOST PORT" of the previous server.
struct Kept {
  std::string host;
  std::uint16_t port = 0;
};

Kept ReadKept(const std::string& file) {
  Kept kept;
  std::istringstream text(ReadFile(file).value_or(""));
  text >> kept.host >> kept.port;
  return kept;
}

}  // namespace

std::string OwnAddressTowards(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    const Addresses found = Resolve(host);
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next)
      if (std::string own = OwnAddress(*one); !own.empty()) return own;
  }
  return {};
}

Result<AgentsAddress> ListenForAgents(const slurm::EngineOptions& options, const std::string& kept_in,
                                      std::span<const slurm::Node> nodes) {
  const Kept kept = ReadKept(kept_in);
  AgentsAddress address{.host = options.agent_host, .socket = {}};
  if (address.host.empty()) {
    TY_TRY(address.host, FindHost(kept.host, nodes));
  }
  const std::uint16_t wanted = options.agent_port != 0 ? options.agent_port : kept.port;
  Result<http::ListeningSocket> socket = http::ListenOnTcp(address.host, wanted);
  if (!socket && options.agent_port == 0) socket = http::ListenOnTcp(address.host, 0);
  if (!socket)
    return std::unexpected(Error{socket.error().code, "--agent-listen: " + socket.error().message, {}});
  address.socket = *std::move(socket);
  TY_RETURN_IF_ERROR(
      WriteFileAtomically(kept_in, address.host + " " + std::to_string(address.socket.port) + "\n"));
  return address;
}

}  // namespace trainyard::engine
