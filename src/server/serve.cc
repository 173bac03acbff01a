#include "server/serve.h"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>

#include "async/diagnostics.h"
#include "front/google_names.h"
#include "front/host_dispatch.h"
#include "front/real_buckets.h"
#include "http/server.h"
#include "http/tls_identity.h"
#include "replica/replica_network.h"
#include "server/google_front.h"
#include "server/installation.h"
#include "server/serve_options.h"

namespace trainyard::server {

namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kStopPoll{
    20};  ///< how often a stopping server looks whether its clients are gone

Status CheckLoopback(const ServeOptions& options) {
  if (options.host == "localhost") return {};
  boost::system::error_code error;
  asio::ip::address address = asio::ip::make_address(options.host, error);
  if (error)
    return std::unexpected(
        InvalidArgument("--listen", "'" + options.host + "' is not an IP address or localhost"));
  if (address.is_loopback()) return {};
  return std::unexpected(FailedPrecondition(
      "refusing to listen on " + options.host +
      ": there is no authentication yet, and whoever reaches this server can run " +
      "programs as its user. Listen on 127.0.0.1 and let others in through an SSH tunnel"));
}

std::string Url(const char* scheme, const std::string& host, std::uint16_t port) {
  bool is_v6 = host.find(':') != std::string::npos;
  return std::string(scheme) + "://" + (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// Where replicas find the buckets and the metadata server without the front. Nothing where Google's names
/// mean Google.
std::map<std::string, std::string> ReplicaEnvironment(const ServeOptions& options, std::uint16_t port) {
  if (!options.google_front) return {};
  // In an isolated network a relay is there, on the loopback of the replica.
  bool isolated = options.network == replica::v1::Manifest::ISOLATED;
  const std::string host = isolated ? "127.0.0.1" : options.host;
  std::string authority = host + ":" + std::to_string(port);
  return {{"STORAGE_EMULATOR_HOST", Url("http", host, port)},
          {"GCE_METADATA_HOST", authority},
          {"GCE_METADATA_IP", authority},
          {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false"}};
}

Result<front::RealBuckets::Options> RealBucketsOptions(const ServeOptions& options,
                                                       const DataDirectory& data) {
  front::RealBuckets::Options real{.names = {options.real_buckets.begin(), options.real_buckets.end()},
                                   .upstream = {},
                                   .token_file = options.real_bucket_token,
                                   .spool_dir = data.Path("uploads")};
  TY_TRY(real.upstream, http::Endpoint::Parse("https://" + std::string(front::kStorageHost)));
  return real;
}

std::vector<std::string> CertificateNames(const ServeOptions& options) {
  std::vector<std::string> names = {options.host};
  if (options.google_front) names.insert(names.end(), front::kTlsHosts.begin(), front::kTlsHosts.end());
  return names;
}

/// A port that was asked for must be had; of "any", the one that replicas of a former server know is the
/// best.
Result<std::uint16_t> ListenPlain(http::Server& server, const ServeOptions& options,
                                  std::uint16_t former_port) {
  if (options.port == 0 && former_port != 0) {
    if (Result<std::uint16_t> port = server.ListenTcp(options.host, former_port)) return port;
  }
  return server.ListenTcp(options.host, options.port);
}

/// The TLS port is the next one if that is free.
Result<std::uint16_t> ListenTls(http::Server& server, const ServeOptions& options, std::uint16_t plain_port,
                                const http::TlsIdentity& identity) {
  if (plain_port < 65535) {
    auto next = static_cast<std::uint16_t>(plain_port + 1);
    if (Result<std::uint16_t> port = server.ListenTls(options.host, next, identity)) return port;
  }
  return server.ListenTls(options.host, 0, identity);
}

/// Lets requests in flight end, then stops the loop; a second signal stops it at once.
asio::awaitable<void> StopOnSignal(asio::io_context& loop, asio::signal_set& signals, http::Server& server,
                                   GoogleFront* front) {
  int number = co_await signals.async_wait(asio::use_awaitable);
  Diagnose(DiagnosticLevel::kInfo,
           std::string("stopping on ") + strsignal(number) + "; running replicas live on");
  server.Stop();
  if (front != nullptr) front->Stop();
  signals.async_wait([&loop](boost::system::error_code error, int) {
    if (!error) loop.stop();
  });
  asio::steady_timer timer(loop);
  while (server.connection_count() + (front != nullptr ? front->connection_count() : 0) > 0) {
    timer.expires_after(kStopPoll);
    co_await timer.async_wait(asio::use_awaitable);
  }
  loop.stop();
}

asio::awaitable<void> RecoverAll(Installation& installation, Status& recovered, asio::io_context& loop) {
  recovered = co_await installation.jobs().Recover();
  if (recovered) recovered = co_await installation.studies().Recover();
  loop.stop();
}

Status CheckOptions(const ServeOptions& options) {
  TY_RETURN_IF_ERROR(CheckLoopback(options));
  if (options.network != replica::v1::Manifest::ISOLATED) return {};
  if (!options.google_front)
    return std::unexpected(
        FailedPrecondition("--google-front off needs --network host: a replica in a network of its own "
                           "reaches nothing but this server"));
  return replica::CheckIsolatedNetworks();
}

/// Jobs and studies are taken over before anyone can ask; the loop runs for that alone.
Status Recover(asio::io_context& loop, Installation& installation) {
  Status recovered;
  asio::co_spawn(loop, RecoverAll(installation, recovered, loop), asio::detached);
  loop.run();
  loop.restart();
  return recovered;
}

Status Run(const ServeOptions& options) {
  TY_RETURN_IF_ERROR(CheckOptions(options));
  asio::io_context loop(1);
  asio::signal_set signals(loop, SIGTERM, SIGINT);
  TY_TRY(const std::unique_ptr<Installation> installation, Installation::Open(loop, options));
  const DataDirectory& data = installation->data();

  std::optional<front::RealBuckets> real_buckets;
  http::Router outer;  // in front of the router where some buckets are not ours
  if (!options.real_buckets.empty()) {
    TY_TRY(front::RealBuckets::Options real, RealBucketsOptions(options, data));
    real_buckets.emplace(std::move(real));
    outer = front::PassOnRealBuckets(installation->router(), *real_buckets);
  }
  http::Server server(loop, real_buckets ? outer : installation->router(),
                      {.log_requests = options.verbose, .counts = &installation->request_counts()});
  TY_TRY(const std::uint16_t port, ListenPlain(server, options, data.FormerPort()));
  const std::string url = Url("http", options.host, port);
  installation->SetAddress(url, ReplicaEnvironment(options, port));
  TY_TRY(const http::TlsIdentity identity,
         http::EnsureTlsIdentity(data.tls_dir(), CertificateNames(options), installation->clock().Now()));
  TY_TRY(const std::uint16_t tls_port, ListenTls(server, options, port, identity));
  installation->SetTlsPort(tls_port);
  std::unique_ptr<GoogleFront> front;
  if (options.google_front) {
    const GoogleFront::Setup setup{.loop = loop,
                                   .api = installation->router(),
                                   .buckets = installation->buckets(),
                                   .data = data,
                                   .project = options.project,
                                   .identity = identity,
                                   .options = {.log_requests = options.verbose},
                                   .real_buckets = real_buckets ? &*real_buckets : nullptr};
    TY_TRY(front, GoogleFront::Open(setup, installation->settings()));
  }

  TY_RETURN_IF_ERROR(Recover(loop, *installation));
  TY_RETURN_IF_ERROR(server.ListenUnix(data.server_socket()));
  TY_RETURN_IF_ERROR(data.Announce({.url = url,
                                    .tls_url = Url("https", "localhost", tls_port),
                                    .ca_file = identity.ca_file,
                                    .project = options.project,
                                    .pid = ::getpid()}));
  std::printf("listening on %s\n", url.c_str());
  std::fflush(stdout);
  asio::co_spawn(loop, StopOnSignal(loop, signals, server, front.get()), asio::detached);
  loop.run();
  return {};
}

}  // namespace

int Serve(int argc, char** argv) {
  ServeOptions options;
  int exit_status = 0;
  if (!ParseServeOptions(argc, argv, options, exit_status)) return exit_status;
  if (options.verbose) SetDiagnosticLevel(DiagnosticLevel::kDebug);
  Status served = Run(options);
  if (served) return 0;
  std::fprintf(stderr, "trainyard serve: %s\n", served.error().message.c_str());
  return 1;
}

}  // namespace trainyard::server
