#include <sys/stat.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/sqlite/full_disk.h"
#include "base/systemd/notify_socket.h"
#include "cli/commands.h"
#include "control/upkeep/disk_space.h"
#include "engine/agent/run_agent.h"
#include "engine/local/machine.h"
#include "net/sockets/kept_sockets.h"
#include "programs/sandbox/network/connect_guard.h"
#include "replica/keeper/keeper.h"
#include "replica/keeper/starter.h"
#include "replica/shell/replica_shell.h"
#include "replica/supervisor/run_replica.h"
#include "server/doctor/doctor.h"
#include "server/installation.h"
#include "server/listeners.h"
#include "server/options/flag.h"
#include "server/options/settings_commands.h"
#include "stores/identity/first_administrator.h"

namespace trainyard::server {

namespace {

namespace asio = boost::asio;

/// Files of the server are accessible to its own account only. Programs of jobs have another umask
/// (replica/supervisor/run_replica.cc).
constexpr mode_t kUmask = 077;

constexpr std::chrono::milliseconds kStopPoll{
    20};  ///< how often a stopping server checks whether its clients are gone

/// The shutdown of a server after its loop has ended. Destroyed last, when this is the only thread again, so
/// that repeated signals do not interrupt it.
struct Ending {
  Ending() = default;
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() {
    sigset_t asked;
    sigemptyset(&asked);
    for (const int number : {SIGTERM, SIGINT}) sigaddset(&asked, number);
    sigprocmask(SIG_BLOCK, &asked, nullptr);
  }
  bool has_begun = false;
};

/// Lets requests in flight end, then stops the loop; a second signal stops it at once. Once `ending` has
/// begun, signals are ignored: the parts that are then destroyed still use the loop. (timeout(1) sends two
/// signals.)
asio::awaitable<void> StopOnSignal(asio::io_context& loop, asio::signal_set& signals, Listeners& listeners,
                                   const Ending& ending) {
  int number = co_await signals.async_wait(asio::use_awaitable);
  Diagnose(DiagnosticLevel::kInfo,
           std::string("stopping on ") + strsignal(number) + "; running replicas continue");
  systemd::ServiceNotices::Stopping();
  listeners.Stop();
  signals.async_wait([&loop, &ending](boost::system::error_code error, int) {
    if (!error && !ending.has_begun) loop.stop();
  });
  asio::steady_timer timer(loop);
  while (listeners.connection_count() > 0) {
    timer.expires_after(kStopPoll);
    co_await timer.async_wait(asio::use_awaitable);
  }
  loop.stop();
}

asio::awaitable<void> RecoverAll(Installation& installation, bool auth, Status& recovered,
                                 asio::io_context& loop) {
  recovered = co_await installation.loop->jobs.Recover();
  if (recovered && auth)
    recovered = co_await identity::EnsureAdminToken(*installation.stores.identities,
                                                    installation.base->data.admin_token());
  if (recovered) recovered = co_await installation.stores.studies->Recover();
  loop.stop();
}

Status CheckOptions(const ServeOptions& options) {
  TY_RETURN_IF_ERROR(CheckOptionRules(options));
  if (options.network != replica::v1::Manifest::ISOLATED) return {};
  return engine::CheckIsolatedNetworks();
}

/// Takes over jobs and studies before anyone can send requests; meanwhile the loop runs only this.
Status Recover(asio::io_context& loop, Installation& installation, bool auth) {
  Status recovered;
  asio::co_spawn(loop, RecoverAll(installation, auth, recovered, loop), asio::detached);
  loop.run();
  loop.restart();
  return recovered;
}

Status Run(const ServeOptions& options) {
  const systemd::ServiceNotices notices;
  sockets::KeptSockets kept = sockets::KeptSockets::Take();
  TY_RETURN_IF_ERROR(CheckOptions(options));
  asio::io_context loop(1);
  asio::signal_set signals(loop, SIGTERM, SIGINT);
  Ending ending;
  TY_TRY(store::DataDirectory data, store::DataDirectory::Open(options.data_dir));
  sqlite::SetMakeRoom([&reserve = data.reserve()] { return reserve.GiveUp(); });
  TY_TRY(const engine::MachineLimits limits,
         engine::MachineLimitsFor(options.keeper, options.capacity, data.attempts_dir()));
  TY_TRY(BoundSockets sockets, BoundSockets::Bind(options, data, kept));
  std::optional<systemd::StartExtension> extension(std::in_place);
  systemd::ServiceNotices::Starting("opening the databases");
  store::DataDirectory::Presence presence = sockets.PresenceOf(options, data);
  presence.bucket_dirs = options.bucket_dirs;
  presence.lacking = limits.lacking;
  presence.auth = options.auth;
  TY_TRY(const std::unique_ptr<Installation> installation,
         Installation::Open(loop, options, std::move(data), sockets, limits));
  TY_TRY(const std::unique_ptr<Listeners> listeners,
         Listeners::Open(loop, options, *installation, std::move(sockets), kept));
  kept.CloseTheRest();

  systemd::ServiceNotices::Starting("taking over the jobs");
  TY_RETURN_IF_ERROR(Recover(loop, *installation, options.auth));
  installation->upkeep->operations.SetRecovered();
  TY_RETURN_IF_ERROR(listeners->LetSupervisorsIn());
  TY_RETURN_IF_ERROR(installation->base->data.Announce(presence));
  std::printf("listening on %s\n", (presence.is_open ? presence.tls_url : presence.url).c_str());
  std::fflush(stdout);
  extension.reset();
  asio::co_spawn(loop, notices.FeedWatchdog(), asio::detached);
  asio::post(loop, [&presence] { systemd::ServiceNotices::Ready(presence.url); });
  asio::co_spawn(loop, StopOnSignal(loop, signals, *listeners, ending), asio::detached);
  loop.run();
  ending.has_begun = true;
  return {};
}

/// `trainyard serve`: serves until SIGTERM or SIGINT. Returns the exit status: 0 after a signal, 1 if it
/// could not serve (with a message on stderr), 2 for wrong flags. Running replicas live on; the next server
/// takes them over.
int Serve(int argc, char** argv) {
  ::umask(kUmask);
  ServeOptions options;
  int exit_status = 0;
  if (!ParseServeOptions(argc, argv, options, exit_status)) return exit_status;
  if (options.verbose) SetDiagnosticLevel(DiagnosticLevel::kDebug);
  const Status served = Run(options);
  if (served) return 0;
  const Error told = control::WithDiskAdvice(served.error(), control::LookForDiskTrouble(options.data_dir),
                                             options.data_dir);
  std::fprintf(stderr, "trainyard serve: %s\n", told.message.c_str());
  return 1;
}

}  // namespace

}  // namespace trainyard::server

int main(int argc, char** argv) {
  using trainyard::replica::RunReplica;
  std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "serve") return trainyard::server::Serve(argc - 1, argv + 1);
  if (command == "replica") return RunReplica(argc - 1, argv + 1);
  if (command == "agent") return trainyard::agent::RunAgent(argc - 1, argv + 1);
  if (command == "keeper") return trainyard::keeper::RunKeeper(argc - 1, argv + 1, RunReplica);
  if (command == "starter") return trainyard::keeper::RunStarter(RunReplica);
  if (command == trainyard::replica::kConnectGuard)
    return trainyard::replica::RunConnectGuard(argc - 1, argv + 1);
  if (command == "machine-report") return trainyard::server::ReportMachine(argc - 1, argv + 1);
  if (command == "replica-shell") return trainyard::shell::RunReplicaShell(argc - 1, argv + 1);
  return trainyard::RunCommandLine(argc, argv,
                                   {.flags = trainyard::server::DescribeServeFlags,
                                    .check_config = trainyard::server::CheckConfiguration,
                                    .show_config = trainyard::server::ShowConfiguration});
}
