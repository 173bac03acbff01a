#include "server/listeners.h"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/token_handlers.h"
#include "front/google_names.h"
#include "front/host_dispatch.h"
#include "http/tls_identity.h"
#include "server/installation.h"
#include "server/listen_address.h"

namespace trainyard::server {

namespace {

/// Null where all buckets are ours.
Result<std::unique_ptr<front::RealBuckets>> OpenRealBuckets(const ServeOptions& options,
                                                            const DataDirectory& data) {
  if (options.real_buckets.empty()) return nullptr;
  front::RealBuckets::Options real{.names = {options.real_buckets.begin(), options.real_buckets.end()},
                                   .upstream = {},
                                   .token_file = options.real_bucket_token,
                                   .spool_dir = data.Path("uploads")};
  TY_TRY(real.upstream, http::Endpoint::Parse("https://" + std::string(front::kStorageHost)));
  return std::make_unique<front::RealBuckets>(std::move(real));
}

/// Requests that are passed on see none of the router behind it, and so their tokens are looked at here.
http::Router WithRealBuckets(const http::Router& routes, front::RealBuckets* real_buckets,
                             control::TokenService& tokens) {
  http::Router all;
  if (real_buckets != nullptr) all = front::PassOnRealBuckets(routes, *real_buckets);
  api::CheckTokens(all, tokens);
  return all;
}

std::vector<std::string> CertificateNames(const ServeOptions& options) {
  std::vector<std::string> names = {options.host};
  names.insert(names.end(), options.host_names.begin(), options.host_names.end());
  if (options.google_front) names.insert(names.end(), front::kTlsHosts.begin(), front::kTlsHosts.end());
  return names;
}

/// Where replicas find the buckets and the metadata server without the front.
std::map<std::string, std::string> ReplicaEnvironment(const ServeOptions& options, std::uint16_t port) {
  // In an isolated network a relay is there, on the loopback of the replica.
  const bool isolated = options.network == replica::v1::Manifest::ISOLATED;
  const std::string host = isolated ? "127.0.0.1" : options.host;
  const std::string authority = host + ":" + std::to_string(port);
  return {{"STORAGE_EMULATOR_HOST", Url("http", host, port)},
          {"GCE_METADATA_HOST", authority},
          {"GCE_METADATA_IP", authority},
          {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false"}};
}

}  // namespace

http::ServerOptions OptionsOf(Purpose purpose, const ServeOptions& options, Installation& installation) {
  http::ServerOptions chosen{.log_requests = options.verbose, .watch = &installation.watch()};
  if (purpose != Purpose::kSupervisors) {  // they have room of their own, whatever clients do
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
      administration_routes_(
          WithRealBuckets(installation.administration_routes(), real_buckets_.get(), installation.tokens())),
      replica_routes_(
          WithRealBuckets(installation.replica_routes(), real_buckets_.get(), installation.tokens())),
      administration_(
          loop, real_buckets_ != nullptr ? administration_routes_ : installation.administration_routes(),
          OptionsOf(Purpose::kAdministration, options, installation)),
      replicas_(loop, real_buckets_ != nullptr ? replica_routes_ : installation.replica_routes(),
                OptionsOf(Purpose::kReplicas, options, installation)),
      supervisors_(loop, installation.supervisor_routes(),
                   OptionsOf(Purpose::kSupervisors, options, installation)),
      former_(installation.data().ReadFormerPorts()) {}

Result<std::unique_ptr<Listeners>> Listeners::Open(boost::asio::io_context& loop, const ServeOptions& options,
                                                   Installation& installation) {
  TY_TRY(std::unique_ptr<front::RealBuckets> real_buckets, OpenRealBuckets(options, installation.data()));
  std::unique_ptr<Listeners> listeners(new Listeners(loop, options, installation, std::move(real_buckets)));
  TY_TRY(const http::TlsIdentity identity, listeners->ListenForClients());
  TY_RETURN_IF_ERROR(listeners->ListenForReplicas());
  if (options.google_front) TY_RETURN_IF_ERROR(listeners->OpenFront(loop, identity));
  return listeners;
}

/// A port that was asked for must be had; of "any", the one that clients of a former server know is the best.
/// The TLS port is the next one if that is free.
Result<http::TlsIdentity> Listeners::ListenForClients() {
  const DataDirectory& data = installation_.data();
  const std::uint16_t former = options_.port == 0 ? former_.plain : 0;
  TY_TRY(plain_port_, ListenOnFirst(administration_, options_.host, {former, options_.port}));
  TY_TRY(http::TlsIdentity identity,
         http::EnsureTlsIdentity(data.tls_dir(), CertificateNames(options_), installation_.clock().Now()));
  TY_TRY(const std::uint16_t tls_port,
         ListenOnFirst(administration_, options_.host, {PortBehind(plain_port_, 1), 0}, identity));
  TY_RETURN_IF_ERROR(administration_.ListenUnix(data.admin_socket()));
  installation_.SetAddress(Url("http", options_.host, plain_port_), tls_port);
  presence_ = {.url = Url("http", options_.host, plain_port_),
               .tls_url = Url("https", "localhost", tls_port),
               .ca_file = identity.ca_file,
               .project = options_.project,
               .pid = ::getpid()};
  return identity;
}

/// The port of the former server first: the environment of replicas that live on names it.
Status Listeners::ListenForReplicas() {
  TY_RETURN_IF_ERROR(replicas_.ListenUnix(installation_.data().replica_socket()));
  if (!options_.google_front) return {};  // there Google's names, and these variables, mean Google
  TY_TRY(presence_.replica_port,
         ListenOnFirst(replicas_, options_.host, {former_.replicas, PortBehind(plain_port_, 2), 0}));
  installation_.settings().replica_environment = ReplicaEnvironment(options_, presence_.replica_port);
  return {};
}

Status Listeners::OpenFront(boost::asio::io_context& loop, const http::TlsIdentity& identity) {
  http::ServerOptions server = OptionsOf(Purpose::kReplicas, options_, installation_);
  server.counts = nullptr;
  server.admit = installation_.gates().front().Admit();
  const GoogleFront::Setup setup{.loop = loop,
                                 .api = installation_.replica_routes(),
                                 .buckets = installation_.buckets(),
                                 .tokens = installation_.tokens(),
                                 .clock = installation_.clock(),
                                 .data = installation_.data(),
                                 .project = options_.project,
                                 .identity = identity,
                                 .options = server,
                                 .real_buckets = real_buckets_.get(),
                                 .bucket_dirs = options_.bucket_dirs};
  TY_TRY(front_, GoogleFront::Open(setup, installation_.settings()));
  return {};
}

Status Listeners::LetSupervisorsIn() { return supervisors_.ListenUnix(installation_.data().attach_socket()); }

void Listeners::Stop() {
  for (http::Server* server : {&administration_, &replicas_, &supervisors_}) server->Stop();
  if (front_ != nullptr) front_->Stop();
}

std::size_t Listeners::connection_count() const noexcept {
  return administration_.connection_count() + replicas_.connection_count() + supervisors_.connection_count() +
         (front_ != nullptr ? front_->connection_count() : 0);
}

}  // namespace trainyard::server
