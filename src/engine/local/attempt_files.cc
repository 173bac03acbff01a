#include "engine/local/attempt_files.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/process/child_process.h"
#include "base/process/kernel_calls.h"
#include "base/process/variables.h"
#include "base/wire/time.h"
#include "engine/local/leftovers.h"
#include "engine/local/strays.h"
#include "programs/attempt/init_note.h"
#include "programs/attempt/spool.h"
#include "programs/runtimes/daemon_container.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "rules/cluster/task_name.h"

namespace trainyard::engine {

namespace {

namespace fs = std::filesystem;
using replica::AttemptDir;

const std::string kLostMessage =
    "the replica's supervisor ended without an exit record: it was killed, or the machine was restarted";

/// Data in a pipe is lost when its reader is killed (supervisor::kPipeBytes).
const std::string kUnreadMessage =
    "The supervisor of this replica was killed or lost: up to 256 KiB of the program's last output to each "
    "of stdout and stderr may be missing.";

const std::string kRemovedMessage =
    "The directory of this replica's attempt was removed or replaced while it ran: output that was not "
    "stored yet is lost.";

/// The longest wait for the removal of a container's files, which may be as many as an image has.
constexpr std::chrono::minutes kRemoveWaitMax{30};

/// An error unless the attempt has provably ended.
Status RefuseAlive(const AttemptDir& dir) {
  const Result<bool> over = IsOver(dir);
  if (!over) return std::unexpected(FailedPrecondition("the attempt may be alive: " + over.error().message));
  if (!*over) return std::unexpected(FailedPrecondition("the attempt is alive"));
  return {};
}

/// Makes an error temporary: a disk that is full, read-only or broken is not the job's fault, and the job
/// starts once it is repaired.
std::unexpected<Error> NotNow(Error error) {
  if (error.code != Code::kResourceExhausted) error.code = Code::kUnavailable;
  return std::unexpected(std::move(error));
}

/// Removes cgroups that no supervisor could remove.
void RemoveGroups(const AttemptDir& dir) {
  if (const auto cgroup = ReadFile(dir.Cgroup()); cgroup && !cgroup->empty()) replica::RemoveCgroup(*cgroup);
  const auto note = replica::ReadInitNote(dir);
  if (!note) return;
  for (const std::string& group : note->groups) replica::RemoveCgroup(group);
}

}  // namespace

Result<UniqueFd> MakeAttempt(const AttemptDir& dir, const Manifest& manifest) {
  if (const Status made = MakeFolders(fs::path(dir.path).parent_path()); !made) return NotNow(made.error());
  if (mkdir(dir.path.c_str(), 0700) != 0) {
    if (errno == EEXIST)
      return std::unexpected(Error{Code::kAlreadyExists, "the attempt was started before", {}});
    return NotNow(ErrnoError(errno, "mkdir " + dir.path));
  }
  Result<UniqueFd> lock = replica::LockAttempt(dir);
  if (!lock) return NotNow(std::move(lock).error());
  if (const Status written = replica::WriteManifest(dir, manifest); !written) return NotNow(written.error());
  return lock;
}

Result<AttemptState> InspectAttempt(const AttemptDir& dir) {
  TY_TRY(const bool held, IsHeld(dir));
  if (held) return AttemptState::kAlive;
  struct stat there{};
  if (stat(dir.path.c_str(), &there) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return std::unexpected(ErrnoError(errno, dir.path));
    TY_TRY(const Strays strays, FindStrays(dir));
    return strays.members.empty() ? AttemptState::kAbsent : AttemptState::kLost;
  }
  if (!S_ISDIR(there.st_mode)) return AttemptState::kLost;
  TY_TRY(const auto exit, replica::ReadExit(dir));
  return exit ? AttemptState::kEnded : AttemptState::kLost;
}

Result<std::vector<AttemptRef>> ListAttempts(const std::string& attempts_dir) {
  TY_TRY(const std::vector<fs::path> paths, EntriesOf(attempts_dir));
  std::vector<AttemptRef> found;
  for (const fs::path& path : paths) {
    std::string name = path.filename();
    if (cluster::ParseAttemptId(name)) found.push_back({.id = std::move(name)});
  }
  return found;
}

UniqueFd OpenSupervisor(const AttemptDir& dir) {
  const auto pid = replica::LockHolder(dir);
  if (!pid) return replica::IsLocked(dir).value_or(false) ? UniqueFd() : OpenStray(dir);
  UniqueFd pidfd = OpenPidfd(*pid);
  if (replica::LockHolder(dir) != pid) return {};  // it ended meanwhile, and its pid may be another's
  return pidfd;
}

static replica::v1::Endpoint EndpointOf(const Manifest& manifest) {
  replica::v1::Endpoint endpoint;
  *endpoint.mutable_replica() = manifest.replica();
  endpoint.set_host_name(manifest.host_name());
  endpoint.set_address(manifest.address());
  endpoint.set_port(manifest.port());
  return endpoint;
}

/// The end of the supervisor's own log, which says why it could not do its work.
static std::string LastWords(const AttemptDir& dir) {
  constexpr std::size_t kLastWordsMax = 1000;
  const Result<std::string> log = ReadFile(dir.SupervisorLog());
  if (!log || log->empty()) return {};
  return ". Its last output: " + log->substr(log->size() - std::min(log->size(), kLastWordsMax));
}

static std::string WhyLost(const AttemptDir& dir, bool there) {
  if (!there) return "its directory " + dir.path + " was removed or replaced while it ran";
  if (::access(dir.Exit().c_str(), F_OK) == 0) return "its exit record " + dir.Exit() + " is damaged";
  return kLostMessage + LastWords(dir);
}

/// Whether the attempt's program has run, according to its notes.
static bool HasRun(const AttemptDir& dir) {
  const auto note = replica::ReadInitNote(dir);
  return (note && !note->preparing) || replica::HasNotedContainers(dir);
}

Result<AttemptHost::Remains> CollectRemains(const AttemptDir& dir, std::int64_t from_line) {
  TY_RETURN_IF_ERROR(RefuseAlive(dir));
  AttemptHost::Remains remains;
  std::error_code error;
  const bool there = fs::is_directory(dir.path, error);
  std::optional<replica::v1::ExitRecord> exit;
  if (there) {
    TY_TRY(exit, replica::ReadExit(dir));
  }
  if (exit) {
    remains.exit = *std::move(exit);
  } else {
    remains.exit.set_cause(replica::v1::ExitRecord::LOST);
    remains.exit.set_message(WhyLost(dir, there));
    *remains.exit.mutable_end_time() = wire::ToProto(SysTime(std::chrono::system_clock::now()));
    if (HasRun(dir)) remains.lacks = kUnreadMessage;
    if (!there) remains.lacks = kRemovedMessage;
  }
  if (!there) return remains;
  if (const Result<Manifest> manifest = replica::ReadManifest(dir); manifest && manifest->port() != 0)
    remains.endpoint = EndpointOf(*manifest);
  Result<std::vector<replica::v1::LogChunk>> chunks = replica::ReadSpool(dir.Spool(), from_line);
  if (chunks) {
    remains.chunks = *std::move(chunks);
  } else if (chunks.error().code == Code::kUnavailable) {
    return std::unexpected(std::move(chunks).error());
  } else {  // its end is known all the same
    remains.lacks = "The last output of this replica cannot be read: " + chunks.error().message + ".";
  }
  return remains;
}

void KillSupervisor(const AttemptDir& dir) {
  if (!replica::LockHolder(dir)) {
    if (const auto strays = FindStrays(dir)) KillStrays(dir, strays->holders);
    return;
  }
  if (const UniqueFd pidfd = OpenSupervisor(dir); pidfd)
    syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
}

void KillProgram(const AttemptDir& dir) {
  const auto note = replica::ReadInitNote(dir);
  if (!note) return;
  if (const UniqueFd init = replica::OpenProcess(note->init))
    syscall(SYS_pidfd_send_signal, init.get(), SIGKILL, nullptr, 0);
}

bool IsOfProgram(const AttemptDir& dir, replica::ConnectionEnd end) {
  const auto note = replica::ReadInitNote(dir);
  return note && !note->preparing && replica::IsBelow(note->init.pid, end);
}

void KillLockHolders(const AttemptDir& dir) {
  for (const pid_t pid : replica::LockHolders(dir)) kill(pid, SIGKILL);
  if (const auto strays = FindStrays(dir)) KillStrays(dir, strays->holders);
}

/// A container's files may have owners that exist only in its user namespace, so a child process in that
/// namespace removes them.
static void RemoveContainer(const AttemptDir& dir) {
  if (geteuid() == 0 || ::access(dir.Container().c_str(), F_OK) != 0) return;
  SpawnOptions options{.argv = {"trainyard", "replica", replica::kRemoveContainer, dir.path},
                       .program = "/proc/self/exe",
                       .environment = OwnVariables(),
                       .descriptors = {{STDERR_FILENO, STDERR_FILENO}}};
  // If it leaves files, the following removal fails.
  if (auto child = ChildProcess::Spawn(std::move(options))) static_cast<void>(child->WaitFor(kRemoveWaitMax));
}

Status RemoveAttempt(const AttemptDir& dir) {
  TY_RETURN_IF_ERROR(RefuseAlive(dir));
  if (replica::HasNotedContainers(dir))
    return std::unexpected(FailedPrecondition("the attempt may still have a container"));
  RemoveGroups(dir);
  RemoveContainer(dir);
  return RemoveTree(dir.path);
}

}  // namespace trainyard::engine
