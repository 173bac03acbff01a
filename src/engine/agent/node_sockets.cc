#include "engine/agent/node_sockets.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/number.h"
#include "rules/placement/plan.h"

namespace trainyard::agent {

namespace {

constexpr int kPortCount = placement::kLeasePortLast - placement::kLeasePortFirst + 1;

/// Binds the name of the port; empty: another process has it. Source: unix(7), "abstract".
UniqueFd BindName(int port) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return {};
  const std::string name = "trainyard-port-" + std::to_string(port);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return socket;
}

/// The fields are: interface, destination, gateway, flags, references, uses, metric, mask.
bool IsDefault4(const std::string& line) {
  std::istringstream fields(line);
  std::array<std::string, 8> words;
  for (std::string& word : words) fields >> word;
  return words[0] != "Iface" && words[1] == "00000000" && words[7] == "00000000";
}

/// The fields are: destination and its length, source and its length, next hop, metric, references, uses,
/// flags, interface. Routes of the loopback reject packets.
bool IsDefault6(const std::string& line) {
  std::istringstream fields(line);
  std::array<std::string, 10> words;
  for (std::string& word : words) fields >> word;
  return words[0] == std::string(32, '0') && words[1] == "00" && words[9] != "lo";
}

bool AnyLine(std::string_view text, bool (*is_it)(const std::string&)) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    if (is_it(line)) return true;
  return false;
}

constexpr const char* kLoopback = "127.0.0.1";

std::uint16_t FormerPort(const std::string& file) {
  return LeadingNumber<std::uint16_t>(ReadFile(file).value_or("")).value_or(0);
}

Result<http::ListeningSocket> BindReplicaTcp(const std::string& file) {
  const std::uint16_t former = FormerPort(file);
  Result<http::ListeningSocket> bound = http::ListenOnTcp(kLoopback, former);
  if (!bound && former != 0) bound = http::ListenOnTcp(kLoopback, 0);
  if (bound && bound->port != former) TY_RETURN_IF_ERROR(ReplaceFile(file, std::to_string(bound->port)));
  return bound;
}

}  // namespace

Result<NodeSockets> NodeSockets::Bind(const std::string& run_dir, const std::string& doors_lacking) {
  NodeSockets sockets;
  TY_TRY(sockets.attach, http::ListenOnUnix(run_dir + "/attach.sock"));
  TY_TRY(sockets.replica, http::ListenOnUnix(run_dir + "/replica.sock"));
  TY_TRY(sockets.replica_tcp, BindReplicaTcp(run_dir + "/replica-port"));
  TY_TRY(sockets.front_tls, http::ListenOnUnix(run_dir + "/front-tls.sock"));
  TY_TRY(sockets.front_plain, http::ListenOnUnix(run_dir + "/front.sock"));
  const auto check_doors = [&doors_lacking]() -> Status {
    if (doors_lacking.empty()) return {};
    return std::unexpected(FailedPrecondition(doors_lacking));
  };
  Result<engine::FrontSockets> front =
      engine::BindFront({.address_file = run_dir + "/front-address", .ports_file = run_dir + "/front-ports"},
                        http::ListenOnTcp, check_doors);
  if (front) {
    sockets.front = *std::move(front);
  } else {
    Diagnose(DiagnosticLevel::kWarning,
             "TensorFlow's gs:// and gsutil will not work in replicas here: " + front.error().message);
  }
  if (!HasWayOut(ReadFile("/proc/net/route").value_or(""), ReadFile("/proc/net/ipv6_route").value_or(""))) {
    TY_TRY(sockets.outside, http::ListenOnTcp(kLoopback, 0));
    Diagnose(DiagnosticLevel::kInfo, "this node has no default route: builds download through the server");
  }
  return sockets;
}

bool HasWayOut(std::string_view ipv4, std::string_view ipv6) {
  return AnyLine(ipv4, IsDefault4) || AnyLine(ipv6, IsDefault6);
}

std::optional<PortLease> PortLease::Take(std::uint32_t start, const Probe& is_free) {
  for (int tried = 0; tried < kPortCount; ++tried) {
    const auto step = static_cast<int>((start + static_cast<std::uint32_t>(tried)) % kPortCount);
    const int port = placement::kLeasePortFirst + step;
    UniqueFd socket = BindName(port);
    if (socket && is_free(port)) return PortLease(port, std::move(socket));
  }
  return std::nullopt;
}

}  // namespace trainyard::agent
