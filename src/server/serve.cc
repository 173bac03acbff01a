#include "server/serve.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>

#include "api/batch_handlers.h"
#include "api/discovery_handlers.h"
#include "api/job_handlers.h"
#include "api/logging_handlers.h"
#include "api/metadata_handlers.h"
#include "api/metrics_handlers.h"
#include "api/ml_methods.h"
#include "api/policy_handlers.h"
#include "api/project_handlers.h"
#include "api/shell_handlers.h"
#include "api/status_handlers.h"
#include "api/storage_handlers.h"
#include "async/diagnostics.h"
#include "async/system_clock.h"
#include "control/job_service.h"
#include "engine/local/local_engine.h"
#include "environment/python_probe.h"
#include "environment/site_hook.h"
#include "front/google_names.h"
#include "front/host_dispatch.h"
#include "front/real_buckets.h"
#include "http/server.h"
#include "http/tls_identity.h"
#include "logs/log_tails.h"
#include "logs/sqlite_log_store.h"
#include "metrics/usage_history.h"
#include "node/inventory.h"
#include "replica/replica_network.h"
#include "server/data_directory.h"
#include "server/google_front.h"
#include "server/serve_options.h"
#include "store/journal.h"
#include "store/sqlite/sqlite_job_store.h"

namespace trainyard::server {

namespace {

namespace asio = boost::asio;

constexpr unsigned kFileThreads = 2;
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

placement::Capacity MachineCapacity(placement::Capacity::Mode mode) {
  cpu_set_t set;
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  struct sysinfo memory{};
  std::int64_t bytes =
      sysinfo(&memory) == 0 ? static_cast<std::int64_t>(memory.totalram) * memory.mem_unit : 0;
  return {.mode = mode, .cpus = std::max(cpus, 1), .memory_bytes = bytes};
}

/// What is declared, else what is found; says so in one line.
placement::DevicePool MachineDevices(const ServeOptions& options) {
  node::Inventory found;
  if (options.accelerators) {
    found.devices = *options.accelerators;
  } else {
    found = node::FindDevices();
  }
  for (const std::string& note : found.notes) Diagnose(DiagnosticLevel::kWarning, note);
  for (const std::string& detail : found.details) Diagnose(DiagnosticLevel::kDebug, detail);
  Diagnose(DiagnosticLevel::kInfo, "this machine has " + placement::DescribeDevices(found.devices) +
                                       (options.accelerators ? ", as declared" : ""));
  return {std::move(found.devices), options.accelerator_map};
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

asio::awaitable<void> RecoverJobs(control::JobService& jobs, Status& recovered, asio::io_context& loop) {
  recovered = co_await jobs.Recover();
  loop.stop();
}

Status Run(const ServeOptions& options) {
  TY_RETURN_IF_ERROR(CheckLoopback(options));
  if (!options.google_front && options.network == replica::v1::Manifest::ISOLATED)
    return std::unexpected(
        FailedPrecondition("--google-front off needs --network host: a replica in a network of its own "
                           "reaches nothing but this server"));
  if (options.network == replica::v1::Manifest::ISOLATED)
    TY_RETURN_IF_ERROR(replica::CheckIsolatedNetworks());
  TY_TRY(DataDirectory data, DataDirectory::Open(options.data_dir));
  TY_TRY(std::string secret, data.Secret());
  TY_RETURN_IF_ERROR(environment::InstallSiteHook(data.environments_dir()));
  TY_TRY(environment::Catalogue catalogue, environment::Catalogue::Load(data.environments_dir()));

  SystemClock clock;
  asio::io_context loop(1);
  asio::signal_set signals(loop, SIGTERM, SIGINT);
  asio::thread_pool files(kFileThreads);

  TY_TRY(auto writer, store::SqliteJobStore::Open(data.jobs_db()));
  TY_TRY(auto reader, store::SqliteJobStore::OpenReader(data.jobs_db()));
  store::Journal journal(loop, *writer, *reader);
  TY_TRY(auto logs, logs::SqliteLogStore::Open(loop, clock, data.logs_db()));
  TY_TRY(auto tails, logs::LogTails::Open(loop.get_executor(), *logs, data.logs_db()));
  TY_TRY(auto usage, metrics::UsageHistory::Open(loop.get_executor(), clock, data.Path("metrics.db")));
  TY_TRY(auto buckets, storage::Buckets::Open(
                           {.data = data.Path(""), .create_on_use = options.create_buckets}, clock, files));
  engine::LocalEngine engine(loop.get_executor(), {.supervisor_program = "/proc/self/exe"});

  placement::Capacity capacity = MachineCapacity(options.capacity);
  const placement::DevicePool devices = MachineDevices(options);
  control::Admissions admissions(loop.get_executor(), capacity, control::IsPortFree, options.network,
                                 devices);
  control::Settings settings{.attempts_dir = data.attempts_dir(),
                             .environments_dir = data.environments_dir(),
                             .server_socket = data.server_socket(),
                             .secret = std::move(secret),
                             .stop_grace = options.stop_grace,
                             .restart_pause = options.restart_pause,
                             .replica_environment = {}};
  control::JobMaker maker(*buckets, catalogue, clock,
                          {.runtime_default = options.default_runtime,
                           .runtime_fallback = options.runtime_fallback,
                           .images = options.images,
                           .pythons = environment::ProbePythons(data.environments_dir()),
                           .capacity = capacity,
                           .devices = devices});
  control::JobService jobs({.loop = loop.get_executor(),
                            .journal = journal,
                            .logs = *logs,
                            .engine = engine,
                            .admissions = admissions,
                            .clock = clock,
                            .settings = settings,
                            .usage = usage.get()},
                           maker, options.accelerator_quota);

  std::uint16_t tls_port = 0;
  http::Router router;
  api::AddHealthRoute(router);
  api::AddDiscoveryRoutes(router);
  control::RequestQuota request_quota(clock, options.request_limits);
  api::MlMethods ml(router, request_quota);
  api::AddJobRoutes(ml, jobs);
  api::AddShellRoutes(router, jobs);
  api::AddPolicyRoutes(ml, jobs);
  api::AddProjectRoutes(ml);
  api::AddStatusRoutes(router, jobs);
  api::AddStorageRoutes(router, *buckets);
  api::AddBatchRoutes(router);
  api::AddLoggingRoutes(router, *logs, *tails);
  api::AddMetadataRoutes(
      router, {.project = options.project,
               .universe_domain = [&tls_port] { return "localhost:" + std::to_string(tls_port); },
               .access_token = [&settings](std::string_view host) { return TokenForHost(settings, host); }});
  http::RequestCounts request_counts;
  api::AddMetricsRoutes(router, {.jobs = jobs, .usage = *usage, .requests = request_counts});
  api::AddMaintenanceRoute(router, jobs);
  router.Add(http::Method::kGet, "/replica/v1/attach", engine::AttachHandler(jobs));

  std::optional<front::RealBuckets> real_buckets;
  http::Router outer;  // in front of the router where some buckets are not ours
  if (!options.real_buckets.empty()) {
    TY_TRY(front::RealBuckets::Options real, RealBucketsOptions(options, data));
    real_buckets.emplace(std::move(real));
    outer = front::PassOnRealBuckets(router, *real_buckets);
  }
  http::Server server(loop, real_buckets ? outer : router,
                      {.log_requests = options.verbose, .counts = &request_counts});
  TY_TRY(std::uint16_t port, ListenPlain(server, options, data.FormerPort()));
  settings.server_url = Url("http", options.host, port);
  settings.replica_environment = ReplicaEnvironment(options, port);
  TY_TRY(http::TlsIdentity identity,
         http::EnsureTlsIdentity(data.tls_dir(), CertificateNames(options), clock.Now()));
  TY_TRY(tls_port, ListenTls(server, options, port, identity));
  std::unique_ptr<GoogleFront> front;
  if (options.google_front) {
    const GoogleFront::Setup setup{.loop = loop,
                                   .api = router,
                                   .buckets = *buckets,
                                   .data = data,
                                   .project = options.project,
                                   .identity = identity,
                                   .options = {.log_requests = options.verbose},
                                   .real_buckets = real_buckets ? &*real_buckets : nullptr};
    TY_TRY(front, GoogleFront::Open(setup, settings));
  }

  // Jobs are taken over before anyone can ask; the loop runs for that alone.
  Status recovered;
  asio::co_spawn(loop, RecoverJobs(jobs, recovered, loop), asio::detached);
  loop.run();
  loop.restart();
  TY_RETURN_IF_ERROR(std::move(recovered));
  TY_RETURN_IF_ERROR(server.ListenUnix(data.server_socket()));
  TY_RETURN_IF_ERROR(data.Announce({.url = Url("http", options.host, port),
                                    .tls_url = Url("https", "localhost", tls_port),
                                    .ca_file = identity.ca_file,
                                    .project = options.project,
                                    .pid = ::getpid()}));
  std::printf("listening on %s\n", Url("http", options.host, port).c_str());
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
