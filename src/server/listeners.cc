#include "server/listeners.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "api/iam/token_handlers.h"
#include "api/vertex/grpc_front.h"
#include "base/systemd/service_variables.h"
#include "engine/remote/outside_door.h"
#include "net/access/forwarded_rules.h"
#include "net/front/google_names.h"
#include "net/front/host_dispatch.h"
#include "net/mux/pump.h"
#include "net/sockets/kept_sockets.h"
#include "server/installation.h"

namespace trainyard::server {

namespace {

/// Busy clients send their next request within this time.
constexpr std::chrono::milliseconds kIdleStopWait{250};
/// No request for metrics has a body.
constexpr std::uint64_t kMetricsBodyBytesMax = 1024;

/// Null: all buckets are ours.
Result<std::unique_ptr<front::RealBuckets>> OpenRealBuckets(const ServeOptions& options,
                                                            const store::DataDirectory& data) {
  if (options.real_buckets.empty()) return nullptr;
  front::RealBuckets::Options real{.names = {options.real_buckets.begin(), options.real_buckets.end()},
                                   .upstream = {},
                                   .token_file = options.real_bucket_token,
                                   .spool_dir = data.Path("uploads")};
  TY_TRY(real.upstream, http::Endpoint::Parse("https://" + std::string(front::kStorageHost)));
  return std::make_unique<front::RealBuckets>(std::move(real));
}

/// Requests to real buckets bypass the router behind this one, so the caller is checked here. Empty if all
/// buckets are ours.
http::Router WithRealBuckets(const http::Router& routes, front::RealBuckets* real_buckets,
                             control::TokenService& tokens, access::Door* door) {
  if (real_buckets == nullptr) return {};
  http::Router all = front::PassOnRealBuckets(routes, *real_buckets, door);
  if (door == nullptr) api::CheckTokens(all, tokens);
  return all;
}

/// The file of a socket that outlives this server is not removed at its end. `identity`: with TLS.
Status ListenUnix(http::Server& server, const std::string& path, sockets::KeptSockets& kept,
                  http::FramingRules rules = http::FramingRules::kStrict,
                  const tls::TlsIdentity* identity = nullptr) {
  if (!kept.keeps())
    return identity != nullptr ? server.ListenUnixTls(path, *identity, rules)
                               : server.ListenUnix(path, rules);
  TY_TRY(http::ListeningSocket socket, kept.ListenOnUnix(path));
  if (identity != nullptr) return server.ListenTls(std::move(socket), *identity, rules);
  server.ListenTcp(std::move(socket), rules);
  return {};
}

/// The options that the servers of all purposes share: limits, counters and log.
http::ServerOptions OptionsFor(Installation& installation, const access::Gate& gate) {
  return {.log_requests = installation.base->options.verbose,
          .admit = gate.Admit(),
          .watch = &installation.base->watch};
}

/// Supervisors have a separate limit of connections, whatever clients do.
http::ServerOptions ForClients(Installation& installation, const access::Gate& gate) {
  http::ServerOptions options = OptionsFor(installation, gate);
  options.counts = &installation.callers->request_counts;
  options.budget = &installation.base->connections;
  options.uid_of = [&uids = installation.callers->gates.uids()](const http::Peer& peer) {
    return uids.Find(peer);
  };
  return options;
}

/// Users may come through a proxy.
http::ServerOptions ForUsers(Installation& installation, const access::Gate& gate) {
  http::ServerOptions options = ForClients(installation, gate);
  options.look_behind_proxy = access::LookBehind(installation.base->options.access.trusted_proxies);
  return options;
}

/// The port with TLS also takes gRPC.
http::ServerOptions ForAdministration(Installation& installation, const http::Router& router) {
  http::ServerOptions options = ForUsers(installation, installation.callers->gates.administration());
  options.http2 = api::GrpcFront(router, options);
  return options;
}

}  // namespace

Listeners::Listeners(boost::asio::io_context& loop, const ServeOptions& options, Installation& installation,
                     std::unique_ptr<front::RealBuckets> real_buckets)
    : options_(options),
      installation_(installation),
      real_buckets_(std::move(real_buckets)),
      administration_routes_(WithRealBuckets(installation.administration_routes, real_buckets_.get(),
                                             installation.loop->tokens, installation.administration_door())),
      replica_routes_(WithRealBuckets(installation.replica_routes, real_buckets_.get(),
                                      installation.loop->tokens, installation.replica_door())),
      administration_(loop,
                      real_buckets_ != nullptr ? administration_routes_ : installation.administration_routes,
                      ForAdministration(installation, installation.administration_routes)),
      replicas_(loop, real_buckets_ != nullptr ? replica_routes_ : installation.replica_routes,
                ForClients(installation, installation.callers->gates.replicas())),
      supervisors_(loop, installation.supervisor_routes,
                   OptionsFor(installation, installation.callers->gates.administration())),
      servers_{&administration_, &replicas_, &supervisors_},
      relays_(loop.get_executor()) {}

/// Stops relaying connections before the servers are destroyed.
Listeners::~Listeners() {
  if (engine::Clusters* clusters = installation_.engines->clusters()) clusters->Close();
}

Result<std::unique_ptr<Listeners>> Listeners::Open(boost::asio::io_context& loop, const ServeOptions& options,
                                                   Installation& installation, BoundSockets sockets,
                                                   sockets::KeptSockets& kept) {
  const store::DataDirectory& data = installation.base->data;
  TY_TRY(std::unique_ptr<front::RealBuckets> real_buckets, OpenRealBuckets(options, data));
  std::unique_ptr<Listeners> listeners(new Listeners(loop, options, installation, std::move(real_buckets)));
  listeners->administration_.ListenTcp(std::move(sockets.administration));
  TY_RETURN_IF_ERROR(listeners->administration_.ListenTls(std::move(sockets.administration_tls),
                                                          sockets.administration_identity));
  TY_RETURN_IF_ERROR(ListenUnix(listeners->administration_, data.admin_socket(), kept));
  TY_RETURN_IF_ERROR(ListenUnix(listeners->replicas_, data.replica_socket(), kept));
  if (sockets.replicas) listeners->replicas_.ListenTcp(*std::move(sockets.replicas));
  if (sockets.metrics) {
    listeners->metrics_routes_ = MonitoringRoutes(installation);
    listeners->metrics_.emplace(loop, listeners->metrics_routes_,
                                http::ServerOptions{.body_bytes_max = kMetricsBodyBytesMax,
                                                    .budget = &installation.base->connections});
    listeners->metrics_->ListenTcp(*std::move(sockets.metrics));
    listeners->servers_.push_back(&*listeners->metrics_);
  }
  if (options.google_front) TY_RETURN_IF_ERROR(listeners->OpenFronts(loop, sockets, kept));
  auto reload = [listeners = listeners.get(), own = sockets.identity] {
    return listeners->ReloadCertificate(own);
  };
  if (!options.tls_certificate.empty())
    installation.upkeep->operations.reload_hooks().Add("the certificate", std::move(reload));
  return listeners;
}

Status Listeners::ReloadCertificate(const tls::TlsIdentity& own) {
  TY_TRY(const tls::TlsIdentity read, AdministrationIdentity(options_, own));
  return administration_.UseIdentity(read);
}

std::unique_ptr<api::GoogleFront> Listeners::MakeFront(boost::asio::io_context& loop, bool is_for_users,
                                                       const tls::TlsIdentity& identity) {
  Installation& all = installation_;
  const sockets::Gates& gates = all.callers->gates;
  http::ServerOptions options =
      is_for_users ? ForUsers(all, gates.workstation()) : ForClients(all, gates.front());
  if (!is_for_users) options.counts = nullptr;
  auto front = std::make_unique<api::GoogleFront>(
      loop, api::GoogleFront::Setup{.api = is_for_users ? all.administration_routes : all.replica_routes,
                                    .sources = FrontSources(all, is_for_users),
                                    .tokens = all.loop->tokens,
                                    .identity = identity,
                                    .options = std::move(options),
                                    .real_buckets = real_buckets_.get(),
                                    .door = is_for_users ? all.administration_door() : all.replica_door()});
  servers_.push_back(&front->server());
  return front;
}

Status Listeners::OpenFronts(boost::asio::io_context& loop, BoundSockets& sockets,
                             sockets::KeptSockets& kept) {
  constexpr http::FramingRules kRules = api::GoogleFront::kRules;
  const store::DataDirectory& data = installation_.base->data;
  front_ = MakeFront(loop, false, sockets.identity);
  if (sockets.front) TY_RETURN_IF_ERROR(front_->Listen(*std::move(sockets.front)));
  TY_RETURN_IF_ERROR(
      ListenUnix(front_->server(), data.front_tls_socket(), kept, kRules, &front_->identity()));
  TY_RETURN_IF_ERROR(ListenUnix(front_->server(), data.front_plain_socket(), kept, kRules));
  if (!sockets.workstation) return {};
  workstation_ = MakeFront(loop, true, sockets.identity);
  return workstation_->Listen(*std::move(sockets.workstation));
}

Status Listeners::LetSupervisorsIn() {
  TY_RETURN_IF_ERROR(supervisors_.ListenUnix(installation_.base->data.attach_socket()));
  engine::Clusters* clusters = installation_.engines->clusters();
  if (clusters == nullptr) return {};
  auto relay = [this](engine::RelayedConnection connection, std::shared_ptr<mux::Stream> stream) {
    Relay(std::move(connection), std::move(stream));
  };
  return clusters->Start(std::move(relay), installation_.base->connections);
}

/// Serves the connection as if the process had connected here. The agent, which runs as this account, knows
/// which attempt the process belongs to.
void Listeners::Relay(engine::RelayedConnection connection, std::shared_ptr<mux::Stream> stream) {
  if (connection.purpose == engine::RelayPurpose::kOutside)
    return relays_.Spawn(
        engine::ServeOutside(std::move(stream), installation_.engines->clusters()->named_targets(),
                             installation_.engines->clusters()->names(), installation_.base->connections));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return stream->Reset();
  UniqueFd served(ends[0]);
  UniqueFd pumped(ends[1]);
  http::Peer peer{.kind = http::Peer::Kind::kUnix, .uid = ::geteuid(), .attempt = connection.attempt_id};
  http::Server* server = nullptr;
  switch (connection.purpose) {
    case engine::RelayPurpose::kOutside: break;
    case engine::RelayPurpose::kAttach: server = &supervisors_; break;
    case engine::RelayPurpose::kReplica: server = &replicas_; break;
    case engine::RelayPurpose::kFrontTls:
    case engine::RelayPurpose::kFront: server = front_ ? &front_->server() : nullptr; break;
  }
  const bool is_tls = connection.purpose == engine::RelayPurpose::kFrontTls;
  const bool taken = server != nullptr && server->Adopt(std::move(served), std::move(peer), is_tls);
  if (!taken) return stream->Reset();
  relays_.Spawn(mux::Pump(std::move(stream), std::move(pumped)));
}

void Listeners::Stop() {
  // Under a service manager the next server follows: clients that are sending a request on their connection
  // still get an answer.
  const std::chrono::milliseconds idle_wait =
      systemd::IsNotified() ? kIdleStopWait : std::chrono::milliseconds(0);
  for (http::Server* server : servers_) server->Stop(idle_wait);
  if (engine::Clusters* clusters = installation_.engines->clusters()) clusters->Stop();
}

std::size_t Listeners::connection_count() const noexcept {
  std::size_t count = 0;
  for (const http::Server* server : servers_) count += server->connection_count();
  return count;
}

}  // namespace trainyard::server
