#include "replica/supervisor/run_replica.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string_view>
#include <thread>
#include <tuple>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/number.h"
#include "base/process/descriptor_limit.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/oci_container.h"
#include "programs/runtimes/pod_program.h"
#include "programs/runtimes/program_source.h"
#include "programs/sandbox/patience.h"
#include "replica/supervisor/lifecycle.h"
#include "replica/supervisor/supervisor.h"

namespace trainyard::replica {

namespace {

/// The files of an attempt are for its program, whatever its user: a container's root, hosts file, packages.
/// Others are kept out by the attempt's directory and the data directory (mode 0700 each).
constexpr mode_t kUmask = 022;

struct Arguments {
  SupervisorOptions options;
  std::string attempt_dir;
  std::uint64_t descriptors = 0;  ///< the program's limit; 0: the same as ours
};

std::optional<std::int64_t> Value(std::string_view argument, std::string_view name) {
  if (!argument.starts_with(name)) return std::nullopt;
  argument.remove_prefix(name.size());
  const auto value = WholeNumber<std::int64_t>(argument);
  return value.value_or(-1) < 0 ? std::nullopt : value;
}

std::optional<Arguments> ParseArguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (const auto bytes = Value(argument, "--spool-bytes-max=")) {
      arguments.options.spool_bytes_max = *bytes;
    } else if (const auto wait = Value(argument, "--output-wait-max-ms=")) {
      arguments.options.output_wait_max = std::chrono::milliseconds(*wait);
    } else if (const auto descriptors = Value(argument, "--descriptors="); descriptors && *descriptors > 0) {
      arguments.descriptors = static_cast<std::uint64_t>(*descriptors);
    } else if (const auto isolation = Value(argument, "--isolation=");
               isolation && *isolation <= static_cast<int>(Isolation::kNone)) {
      arguments.options.isolation = std::max(static_cast<Isolation>(*isolation), BestIsolation());
    } else if (argument.starts_with("--") || !arguments.attempt_dir.empty()) {
      return std::nullopt;
    } else {
      arguments.attempt_dir = argument;
    }
  }
  if (arguments.attempt_dir.empty()) return std::nullopt;
  return arguments;
}

/// So that nothing that we start can read our input: a package's build, for example.
Status EmptyStandardInput() {
  TY_TRY(const UniqueFd nothing, OpenFile("/dev/null", O_RDONLY));
  if (dup2(nothing.get(), STDIN_FILENO) < 0) return std::unexpected(ErrnoError(errno, "dup2"));
  return {};
}

/// Waits for as long as the disk has no space, unless the attempt is not wanted any more: then this process
/// is killed, or the attempt's directory is removed.
Result<Spool> MakeSpool(const AttemptDir& dir) {
  Result<Spool> spool = Spool::Create(dir.Spool());
  while (!spool && IsShortage(spool.error())) {
    std::this_thread::sleep_for(kShortageRetry);
    spool = Spool::Create(dir.Spool());
  }
  return spool;
}

Result<Supervisor::Setup> SetUp(Arguments arguments) {
  AttemptDir dir{std::move(arguments.attempt_dir)};
  TY_TRY(v1::Manifest manifest, ReadManifest(dir));
  TY_RETURN_IF_ERROR(ReadSecretValues(STDIN_FILENO, manifest));
  TY_RETURN_IF_ERROR(EmptyStandardInput());
  if (manifest.program().container().runtime_kind() == v1::Manifest::POD_CONTAINER)
    dir.shared = PodSharedFolder(manifest);
  TY_TRY(UniqueFd lock, LockAttempt(dir, kInheritedLockFd));
  TY_RETURN_IF_ERROR(SignLock(lock.get(), getpid()));
  TY_TRY(Spool spool, MakeSpool(dir));
  return Supervisor::Setup{.dir = std::move(dir),
                           .manifest = std::move(manifest),
                           .lock = std::move(lock),
                           .spool = std::move(spool),
                           .options = arguments.options};
}

}  // namespace

int RunReplica(int argc, char** argv) {
  InstalledPrograms source;
  return RunReplica(argc, argv, source);
}

int RunReplica(int argc, char** argv, ProgramSource& source) {
  if (argc == 3 && std::string_view(argv[1]) == kRemoveContainer) {
    RemoveContainerFolder(AttemptDir{argv[2]}.Container());
    return 0;
  }
  auto arguments = ParseArguments(argc, argv);
  if (!arguments) {
    std::fputs(
        "usage: trainyard replica [--descriptors=N] [--isolation=N] [--spool-bytes-max=N] "
        "[--output-wait-max-ms=N] "
        "ATTEMPT_DIR\n",
        stderr);
    return 1;
  }
  // Keeps only the lock of the parent's descriptors: closes a server's listening sockets and a terminal's
  // descriptors.
  close_range(kInheritedLockFd + 1, ~0U, 0);
  setsid();  // fails if this process leads a session already
  prctl(PR_SET_NAME, "trainyard-repl");
  umask(kUmask);
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // processes without their init become our children
  // Also lowers our own limit: all that we start inherits it.
  if (arguments->descriptors > 0) std::ignore = LowerDescriptorLimit(0, arguments->descriptors);
  auto setup = SetUp(std::move(*arguments));
  if (!setup) {
    Diagnose(DiagnosticLevel::kError, setup.error().message);
    return 1;
  }
  Supervisor(std::move(*setup), source).Run();
  return 0;
}

}  // namespace trainyard::replica
