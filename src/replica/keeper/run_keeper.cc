#include "replica/keeper/run_keeper.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/async/diagnostics.h"
#include "base/process/descriptor_limit.h"
#include "base/systemd/notify_socket.h"
#include "replica/keeper/keeper.h"

namespace trainyard::keeper {

namespace {

constexpr mode_t kUmask = 077;
constexpr int kStopSecondsMax = 86'400;

std::optional<KeeperOptions> ParseArguments(int argc, char** argv) {
  KeeperOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    const std::string_view value = argv[i + 1];
    if (flag == "--socket") {
      options.socket = value;
    } else if (flag == "--stop-timeout") {
      int seconds = -1;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
      if (error != std::errc() || end != value.data() + value.size() || seconds < 0 ||
          seconds > kStopSecondsMax)
        return std::nullopt;
      options.stop_max = std::chrono::seconds(seconds);
    } else if (flag == "--server-unit" && !value.empty()) {
      options.server_unit = value;
    } else {
      return std::nullopt;
    }
  }
  if (argc % 2 == 0 || !options.socket.starts_with('/')) return std::nullopt;
  return options;
}

Status Keep(KeeperOptions options) {
  if (options.server_unit.empty())
    Diagnose(
        DiagnosticLevel::kWarning,
        "any process of root or of this account may have supervisors started, because --server-unit does not "
        "name the server's unit");
  TY_TRY(const std::unique_ptr<Keeper> keeper, Keeper::Open(std::move(options)));
  if (const Status told = systemd::Notify(systemd::kNotifyReady); !told)
    Diagnose(DiagnosticLevel::kWarning, told.error().message);
  return keeper->Run();
}

}  // namespace

int RunKeeper(int argc, char** argv) {
  auto options = ParseArguments(argc, argv);
  if (!options) {
    std::fputs(
        "usage: trainyard keeper --socket /ABSOLUTE/PATH [--server-unit UNIT] [--stop-timeout SECONDS]\n",
        stderr);
    return 2;
  }
  close_range(STDERR_FILENO + 1, ~0U, 0);
  prctl(PR_SET_NAME, "trainyard-keep");
  umask(kUmask);
  std::ignore = chdir("/");
  std::signal(SIGPIPE, SIG_IGN);  // who reads our messages may go away
  RaiseDescriptorLimit();         // a pidfd for each that lives; they get what we had
  const Status kept = Keep(*std::move(options));
  if (kept) return 0;
  Diagnose(DiagnosticLevel::kError, kept.error().message);
  return 1;
}

}  // namespace trainyard::keeper
