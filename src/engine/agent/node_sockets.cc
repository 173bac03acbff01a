#include "engine/agent/node_sockets.h"

#include <charconv>
#include <cstdint>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "engine/agent/way_out.h"

namespace trainyard::agent {

namespace {

constexpr const char* kLoopback = "127.0.0.1";

std::uint16_t FormerPort(const std::string& file) {
  std::uint16_t port = 0;
  const std::string text = ReadFile(file).value_or("");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() ? port : std::uint16_t{0};
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
    Diagnose(DiagnosticLevel::kInfo, "this node has no default route: builds fetch by way of the server");
  }
  return sockets;
}

}  // namespace trainyard::agent
