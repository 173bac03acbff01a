#include "server/listeners.h"
#include "engine/remote/outside_door.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "api/iam/token_handlers.h"
#include "api/own/own_handlers.h"
#include "base/systemd/service_variables.h"
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

/// Requests to real buckets bypass the router behind this one, so the caller is checked here.
http::Router WithRealBuckets(const http::Router& routes, front::RealBuckets* real_buckets,
                             control::TokenService& tokens, access::Door* door) {
  http::Router all;
  if (real_buckets != nullptr) all = front::PassOnRealBuckets(routes, *real_buckets, MayPassOn(door));
  if (door == nullptr) api::CheckTokens(all, tokens);
  return all;
}

/// The file of a socket that outlives this server is not removed at its end.
Status ListenUnix(http::Server& server, const std::string& path, sockets::KeptSockets& kept) {
  if (!kept.keeps()) return server.ListenUnix(path);
  TY_TRY(http::ListeningSocket socket, kept.ListenOnUnix(path));
  server.ListenTcp(std::move(socket));
  return {};
}

std::string GooglesUniverse() { return "googleapis.com"; }

}  // namespace

http::ServerOptions OptionsOf(Purpose purpose, const ServeOptions& options, Installation& installation) {
  http::ServerOptions chosen{.log_requests = options.verbose, .watch = &installation.watch()};
  if (purpose == Purpose::kAdministration)
    chosen.look_behind_proxy = access::LookBehind(options.access.trusted_proxies);
  if (purpose != Purpose::kSupervisors) {  // they have a separate limit, whatever clients do
    chosen.budget = &installation.connections();
    chosen.uid_of = [&uids = installation.gates().uids()](const http::Peer& peer) { return uids.Find(peer); };
  }
  switch (purpose) {
    case Purpose::kAdministration:
      chosen.counts = &installation.request_counts();
      chosen.admit = installation.gates().administration().Admit();
      break;
    case Purpose::kReplicas:
      chosen.counts = &installation.request_counts();
      chosen.admit = installation.gates().replicas().Admit();
      break;
    case Purpose::kSupervisors: chosen.admit = installation.gates().administration().Admit(); break;
  }
  return chosen;
}

Listeners::Listeners(boost::asio::io_context& loop, const ServeOptions& options, Installation& installation,
                     std::unique_ptr<front::RealBuckets> real_buckets)
    : options_(options),
      installation_(installation),
      real_buckets_(std::move(real_buckets)),
      administration_routes_(WithRealBuckets(installation.administration_routes(), real_buckets_.get(),
                                             installation.tokens(), installation.administration_door())),
      replica_routes_(WithRealBuckets(installation.replica_routes(), real_buckets_.get(),
                                      installation.tokens(), installation.replica_door())),
      administration_(
          loop, real_buckets_ != nullptr ? administration_routes_ : installation.administration_routes(),
          OptionsOf(Purpose::kAdministration, options, installation)),
      replicas_(loop, real_buckets_ != nullptr ? replica_routes_ : installation.replica_routes(),
                OptionsOf(Purpose::kReplicas, options, installation)),
      supervisors_(loop, installation.supervisor_routes(),
                   OptionsOf(Purpose::kSupervisors, options, installation)),
      relays_(loop.get_executor()) {}

/// Stops relaying connections before the servers are destroyed.
Listeners::~Listeners() {
  if (engine::Cluster* cluster = installation_.cluster()) cluster->Close();
}

Result<std::unique_ptr<Listeners>> Listeners::Open(boost::asio::io_context& loop, const ServeOptions& options,
                                                   Installation& installation, BoundSockets sockets,
                                                   sockets::KeptSockets& kept) {
  const store::DataDirectory& data = installation.data();
  TY_TRY(std::unique_ptr<front::RealBuckets> real_buckets, OpenRealBuckets(options, data));
  std::unique_ptr<Listeners> listeners(new Listeners(loop, options, installation, std::move(real_buckets)));
  listeners->administration_.ListenTcp(std::move(sockets.administration));
  TY_RETURN_IF_ERROR(listeners->administration_.ListenTls(std::move(sockets.administration_tls),
                                                          sockets.administration_identity));
  TY_RETURN_IF_ERROR(ListenUnix(listeners->administration_, data.admin_socket(), kept));
  TY_RETURN_IF_ERROR(ListenUnix(listeners->replicas_, data.replica_socket(), kept));
  if (sockets.replicas) listeners->replicas_.ListenTcp(*std::move(sockets.replicas));
  if (sockets.metrics) {
    listeners->metrics_ =
        std::make_unique<MetricsListener>(loop, *std::move(sockets.metrics), installation.Metrics(),
                                          installation.operations(), installation.connections());
  }
  if (options.google_front) TY_RETURN_IF_ERROR(listeners->OpenFronts(loop, sockets, kept));
  auto reload = [listeners = listeners.get(), own = sockets.identity] {
    return listeners->ReloadCertificate(own);
  };
  if (!options.tls_certificate.empty())
    installation.operations().reload_hooks().Add("the certificate", std::move(reload));
  return listeners;
}

Status Listeners::ReloadCertificate(const tls::TlsIdentity& own) {
  TY_TRY(const tls::TlsIdentity read, AdministrationIdentity(options_, own));
  return administration_.UseIdentity(read);
}

GoogleFront::Setup Listeners::SetupOf(Purpose purpose, boost::asio::io_context& loop,
                                      const tls::TlsIdentity& identity) {
  const bool is_users = purpose == Purpose::kAdministration;
  const sockets::Gates& gates = installation_.gates();
  http::ServerOptions server = OptionsOf(purpose, options_, installation_);
  server.admit = is_users ? gates.workstation().Admit() : gates.front().Admit();
  if (!is_users) server.counts = nullptr;
  return {.loop = loop,
          .api = is_users ? installation_.administration_routes() : installation_.replica_routes(),
          .buckets = installation_.buckets(),
          .identities = installation_.identities(),
          .tokens = installation_.tokens(),
          .clock = installation_.clock(),
          .metadata = is_users ? installation_.MetadataForUsers(GooglesUniverse)
                               : installation_.MetadataForReplicas(GooglesUniverse),
          .identity = identity,
          .options = std::move(server),
          .real_buckets = real_buckets_.get(),
          .door = is_users ? installation_.administration_door() : installation_.replica_door(),
          .token_names = {.own_audiences = installation_.own_urls(),
                          .server = installation_.settings().server_url}};
}

Status Listeners::OpenFronts(boost::asio::io_context& loop, BoundSockets& sockets,
                             sockets::KeptSockets& kept) {
  const tls::TlsIdentity& identity = sockets.identity;
  TY_TRY(front_, GoogleFront::Open(SetupOf(Purpose::kReplicas, loop, identity), std::move(sockets.front)));
  TY_RETURN_IF_ERROR(front_->ListenUnix(installation_.data(), kept));
  if (!sockets.workstation) return {};
  TY_TRY(workstation_, GoogleFront::Open(SetupOf(Purpose::kAdministration, loop, identity),
                                         std::move(sockets.workstation)));
  return {};
}

Status Listeners::LetSupervisorsIn() {
  TY_RETURN_IF_ERROR(supervisors_.ListenUnix(installation_.data().attach_socket()));
  engine::Cluster* cluster = installation_.cluster();
  if (cluster == nullptr) return {};
  auto relay = [this](engine::RelayedConnection connection, std::shared_ptr<mux::Stream> stream) {
    Relay(std::move(connection), std::move(stream));
  };
  return cluster->Start(std::move(relay), installation_.connections());
}

/// Serves the connection as if the process had connected here. The agent, which runs as this account, knows
/// which attempt the process belongs to.
void Listeners::Relay(engine::RelayedConnection connection, std::shared_ptr<mux::Stream> stream) {
  if (connection.purpose == engine::RelayPurpose::kOutside)
    return relays_.Spawn(engine::ServeOutside(std::move(stream), installation_.cluster()->named_targets(),
                                              installation_.connections()));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return stream->Reset();
  UniqueFd served(ends[0]);
  UniqueFd pumped(ends[1]);
  http::Peer peer{.kind = http::Peer::Kind::kUnix, .uid = ::geteuid(), .attempt = connection.attempt_id};
  bool taken = false;
  switch (connection.purpose) {
    case engine::RelayPurpose::kOutside: break;
    case engine::RelayPurpose::kAttach:
      taken = supervisors_.Adopt(std::move(served), std::move(peer), false);
      break;
    case engine::RelayPurpose::kReplica:
      taken = replicas_.Adopt(std::move(served), std::move(peer), false);
      break;
    case engine::RelayPurpose::kFrontTls:
    case engine::RelayPurpose::kFront:
      taken = front_ && front_->Adopt(std::move(served), std::move(peer),
                                      connection.purpose == engine::RelayPurpose::kFrontTls);
      break;
  }
  if (!taken) return stream->Reset();
  relays_.Spawn(mux::Pump(std::move(stream), std::move(pumped)));
}

void Listeners::Stop() {
  // Under a service manager the next server follows: clients that are sending a request on their connection
  // still get an answer.
  const std::chrono::milliseconds idle_wait =
      systemd::IsNotified() ? kIdleStopWait : std::chrono::milliseconds(0);
  for (http::Server* server : {&administration_, &replicas_, &supervisors_}) server->Stop(idle_wait);
  for (GoogleFront* front : {front_.get(), workstation_.get()}) {
    if (front != nullptr) front->Stop(idle_wait);
  }
  if (metrics_ != nullptr) metrics_->Stop();
  if (engine::Cluster* cluster = installation_.cluster()) cluster->Stop();
}

std::size_t Listeners::connection_count() const noexcept {
  std::size_t count =
      administration_.connection_count() + replicas_.connection_count() + supervisors_.connection_count();
  for (const GoogleFront* front : {front_.get(), workstation_.get()}) {
    if (front != nullptr) count += front->connection_count();
  }
  return count + (metrics_ != nullptr ? metrics_->connection_count() : 0);
}

}  // namespace trainyard::server
