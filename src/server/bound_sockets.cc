#include "server/bound_sockets.h"

#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "engine/local/machine.h"
#include "net/front/google_names.h"
#include "net/sockets/kept_sockets.h"
#include "net/sockets/listen_address.h"
#include "net/sockets/port_owner.h"

namespace trainyard::server {

namespace {

std::vector<std::string> CertificateNames(const ServeOptions& options) {
  std::vector<std::string> names = sockets::OwnNames(options.host, options.host_names);
  if (!options.google_front) return names;
  names.insert(names.end(), front::kTlsHosts.begin(), front::kTlsHosts.end());
  names.insert(names.end(), front::kUsersHosts.begin(), front::kUsersHosts.end());
  for (std::string& name : front::VertexHosts()) names.push_back(std::move(name));
  return names;
}

using Front = BoundSockets::Front;

/// The files that record a front's address and ports.
struct FrontFiles {
  const char* address;
  const char* ports;
};
constexpr FrontFiles kReplicasFiles = {.address = "run/front-address", .ports = "run/front-ports"};
constexpr FrontFiles kWorkstationFiles = {.address = "run/workstation-address",
                                          .ports = "run/workstation-ports"};

/// Root uses other means, and a job's log lists what is missing.
Status CheckNamespaces() { return ::geteuid() == 0 ? Status() : engine::CheckUserNamespaces(); }

/// Binds the front; sockets that a manager has kept are used first.
Result<Front> BindFront(sockets::KeptSockets& kept, const store::DataDirectory& data, const FrontFiles& files,
                        const std::function<Status()>& check_doors) {
  const auto listen = [&kept](const std::string& address, std::uint16_t port) {
    return kept.ListenOnTcp(address, port);
  };
  return engine::BindFront({.address_file = data.Path(files.address), .ports_file = data.Path(files.ports)},
                           listen, check_doors);
}

/// Does not check whether connections can be redirected: `trainyard with` does, which is another process and
/// maybe of another account.
void BindWorkstation(sockets::KeptSockets& kept, const store::DataDirectory& data, BoundSockets& sockets) {
  Result<Front> front = BindFront(kept, data, kWorkstationFiles, [] { return Status(); });
  if (front) {
    sockets.workstation = *std::move(front);
  } else {
    Diagnose(DiagnosticLevel::kWarning, "trainyard with will not work: " + front.error().message);
  }
}

/// Other machines can only reach the TLS port; the plain port is on the loopback.
Status BindAdministration(const ServeOptions& options, const store::DataDirectory& data,
                          sockets::KeptSockets& kept, BoundSockets& sockets) {
  const store::DataDirectory::FormerPorts previous = data.ReadFormerPorts();
  const bool is_open = !sockets::IsLoopback(options.host);
  http::ListeningSocket& first = is_open ? sockets.administration_tls : sockets.administration;
  const std::uint16_t former = is_open ? previous.tls : previous.plain;
  Result<http::ListeningSocket> bound =
      kept.ListenOnFirst(options.host, {options.port == 0 ? former : std::uint16_t{0}, options.port});
  if (!bound && bound.error().code == Code::kAlreadyExists)
    return std::unexpected(sockets::PortInUse(options.host + ":" + std::to_string(options.port),
                                              sockets::FindPortOwner(options.host, options.port),
                                              options.data_dir));
  TY_TRY(first, std::move(bound));
  http::ListeningSocket& second = is_open ? sockets.administration : sockets.administration_tls;
  const std::uint16_t known = is_open ? previous.plain : std::uint16_t{0};
  TY_TRY(second, kept.ListenOnFirst(sockets::LocalHost(options.host),
                                    {known, sockets::PortBehind(first.port, 1), 0}));
  return {};
}

}  // namespace

Result<tls::TlsIdentity> AdministrationIdentity(const ServeOptions& options, const tls::TlsIdentity& own) {
  if (options.tls_certificate.empty()) return own;
  return tls::LoadTlsIdentity(options.tls_certificate, options.tls_key, own.ca_file,
                              SysTime(std::chrono::system_clock::now()));
}

Result<BoundSockets> BoundSockets::Bind(const ServeOptions& options, const store::DataDirectory& data,
                                        sockets::KeptSockets& kept) {
  BoundSockets sockets;
  TY_RETURN_IF_ERROR(BindAdministration(options, data, kept, sockets));
  TY_TRY(sockets.identity, tls::EnsureTlsIdentity(data.tls_dir(), CertificateNames(options),
                                                  SysTime(std::chrono::system_clock::now())));
  TY_TRY(sockets.administration_identity, AdministrationIdentity(options, sockets.identity));
  kept.Keep(sockets.administration);
  kept.Keep(sockets.administration_tls);
  if (options.metrics) {
    TY_TRY(sockets.metrics, kept.ListenOnTcp(options.metrics->host, options.metrics->port));
    kept.Keep(*sockets.metrics);
  }
  if (!options.google_front) return sockets;
  const std::uint16_t behind = sockets::PortBehind(sockets.administration.port, 2);
  TY_TRY(sockets.replicas,
         kept.ListenOnFirst(sockets::LocalHost(options.host), {data.ReadFormerPorts().replicas, behind, 0}));
  kept.Keep(*sockets.replicas);
  const Status namespaces = CheckNamespaces();
  sockets.has_namespaces = namespaces.has_value();
  if (!namespaces) {
    Diagnose(DiagnosticLevel::kWarning,
             "TensorFlow's gs://, gsutil and /gcs will not work in replicas: " + namespaces.error().message);
  }
  if (Result<Front> front = BindFront(kept, data, kReplicasFiles, engine::CheckConnectDoors)) {
    sockets.front = *std::move(front);
  } else if (sockets.has_namespaces) {
    Diagnose(DiagnosticLevel::kWarning,
             "TensorFlow's gs:// and gsutil will not work in replicas: " + front.error().message +
                 ". Run as root, give the program CAP_NET_BIND_SERVICE, or lower "
                 "net.ipv4.ip_unprivileged_port_start to 80");
  }
  BindWorkstation(kept, data, sockets);
  for (const std::optional<Front>* front : {&sockets.front, &sockets.workstation}) {
    if (!*front) continue;
    kept.Keep((*front)->tls);
    if ((*front)->plain) kept.Keep(*(*front)->plain);
  }
  return sockets;
}

store::DataDirectory::Presence BoundSockets::PresenceOf(const ServeOptions& options,
                                                        const store::DataDirectory& data) const {
  const bool is_open = !sockets::IsLoopback(options.host);
  store::DataDirectory::Presence presence = {
      .url = sockets::Url("http", sockets::LocalHost(options.host), administration.port),
      .tls_url =
          sockets::Url("https", is_open ? sockets::PublicName(options.host, options.host_names) : "localhost",
                       administration_tls.port),
      .is_open = is_open,
      .replica_port = replicas ? replicas->port : std::uint16_t{0},
      .ca_file = identity.ca_file,
      .project = options.project,
      .pid = ::getpid()};
  if (metrics) presence.metrics_url = sockets::Url("http", options.metrics->host, metrics->port);
  if (workstation) {
    presence.workstation = {.address = workstation->address,
                            .tls_port = workstation->tls.port,
                            .plain_port = workstation->plain ? workstation->plain->port : std::uint16_t{0},
                            .ca_bundle = data.ca_bundle()};
  }
  return presence;
}

}  // namespace trainyard::server
