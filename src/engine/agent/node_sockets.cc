#include "engine/agent/node_sockets.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
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

Result<NodeSockets> NodeSockets::Bind(const std::string& run_dir, const NodeFacts& facts,
                                      const std::string& front_address) {
  NodeSockets sockets;
  const std::string address_file = run_dir + "/front-address";
  if (!front_address.empty()) TY_RETURN_IF_ERROR(ReplaceFile(address_file, front_address));
  TY_TRY(sockets.attach, http::ListenOnUnix(run_dir + "/attach.sock"));
  TY_TRY(sockets.replica, http::ListenOnUnix(run_dir + "/replica.sock"));
  TY_TRY(sockets.replica_tcp, BindReplicaTcp(run_dir + "/replica-port"));
  TY_TRY(sockets.front_tls, http::ListenOnUnix(run_dir + "/front-tls.sock"));
  TY_TRY(sockets.front_plain, http::ListenOnUnix(run_dir + "/front.sock"));
  const auto check_doors = [&facts]() -> Status {
    if (facts.doors_lacking.empty()) return {};
    return std::unexpected(FailedPrecondition(facts.doors_lacking));
  };
  Result<engine::FrontSockets> front = engine::BindFront(
      {.address_file = address_file, .ports_file = run_dir + "/front-ports"}, http::ListenOnTcp, check_doors);
  if (front) {
    sockets.front = *std::move(front);
    sockets.has_names =
        sockets.front->address == front_address && sockets.front->tls.port == engine::FrontSockets::kTlsPort;
  } else {
    Diagnose(DiagnosticLevel::kWarning,
             "TensorFlow's gs:// and gsutil will not work in replicas here: " + front.error().message);
  }
  if (const std::string& why = facts.node.way_out_lacking(); !why.empty()) {
    TY_TRY(sockets.outside, http::ListenOnTcp(kLoopback, 0));
    Diagnose(DiagnosticLevel::kInfo, "builds download through the server: " + why);
  }
  return sockets;
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
