#include "server/bound_sockets.h"

#include <unistd.h>

#include <chrono>
#include <utility>
#include <vector>

#include "async/diagnostics.h"
#include "front/front_address.h"
#include "front/google_names.h"
#include "server/listen_address.h"

namespace trainyard::server {

namespace {

constexpr std::uint16_t kGoogleTlsPort = 443;   // TensorFlow's URLs have no port
constexpr std::uint16_t kGooglePlainPort = 80;  // nor has the metadata server's

std::vector<std::string> CertificateNames(const ServeOptions& options) {
  std::vector<std::string> names = {options.host};
  names.insert(names.end(), options.host_names.begin(), options.host_names.end());
  if (options.google_front) names.insert(names.end(), front::kTlsHosts.begin(), front::kTlsHosts.end());
  return names;
}

Result<BoundSockets::Front> BindFront(const DataDirectory& data) {
  BoundSockets::Front front;
  const auto listen = [&front](const std::string& address) -> Status {
    TY_TRY(front.tls, http::ListenOnTcp(address, kGoogleTlsPort));
    return {};
  };
  TY_TRY(front.address, front::TakeFrontAddress(data.Path("run/front-address"), listen));
  Result<http::ListeningSocket> plain = http::ListenOnTcp(front.address, kGooglePlainPort);
  if (plain) {
    front.plain = *std::move(plain);
  } else {
    Diagnose(DiagnosticLevel::kWarning, "replicas have no metadata server of their own on port 80: " +
                                            plain.error().message + "; all of them share one token");
  }
  return front;
}

}  // namespace

Result<BoundSockets> BoundSockets::Bind(const ServeOptions& options, const DataDirectory& data) {
  BoundSockets sockets;
  const DataDirectory::FormerPorts previous = data.ReadFormerPorts();
  const std::uint16_t known = options.port == 0 ? previous.plain : 0;
  TY_TRY(sockets.administration, ListenOnFirst(options.host, {known, options.port}));
  const std::uint16_t plain_port = sockets.administration.port;
  TY_TRY(sockets.identity, tls::EnsureTlsIdentity(data.tls_dir(), CertificateNames(options),
                                                  SysTime(std::chrono::system_clock::now())));
  TY_TRY(sockets.administration_tls, ListenOnFirst(options.host, {PortBehind(plain_port, 1), 0}));
  if (!options.google_front) return sockets;
  TY_TRY(sockets.replicas, ListenOnFirst(options.host, {previous.replicas, PortBehind(plain_port, 2), 0}));
  if (Result<Front> front = BindFront(data)) {
    sockets.front = *std::move(front);
  } else {
    Diagnose(DiagnosticLevel::kWarning,
             "TensorFlow's gs:// and gsutil will not work in replicas: " + front.error().message +
                 ". Run as root, give the program CAP_NET_BIND_SERVICE, or lower "
                 "net.ipv4.ip_unprivileged_port_start to 80");
  }
  return sockets;
}

DataDirectory::Presence BoundSockets::PresenceOf(const ServeOptions& options) const {
  return {.url = Url("http", options.host, administration.port),
          .tls_url = Url("https", "localhost", administration_tls.port),
          .replica_port = replicas ? replicas->port : std::uint16_t{0},
          .ca_file = identity.ca_file,
          .project = options.project,
          .pid = ::getpid()};
}

}  // namespace trainyard::server
