#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// Names in the directory of one attempt. Shared by the supervisor and the attempt host. The lock is held
/// from before anything of the attempt runs, by the supervisor, its sandbox's init process and its relay:
/// never by a program of the user, which could let go of it. It is free when all of the attempt has ended,
/// unless both were killed: then what the notes name (Init(), Cgroup()) may live for a moment longer. A
/// supervisor that was dismissed leaves a file of that name behind.
struct AttemptDir {
  std::string path;

  [[nodiscard]] std::string Manifest() const { return path + "/manifest.pb"; }
  [[nodiscard]] std::string Lock() const { return path + "/lock"; }
  [[nodiscard]] std::string Spool() const { return path + "/spool"; }
  [[nodiscard]] std::string Exit() const { return path + "/exit.pb"; }
  [[nodiscard]] std::string Work() const { return path + "/work"; }
  [[nodiscard]] std::string Home() const { return path + "/home"; }
  [[nodiscard]] std::string Tmp() const { return path + "/tmp"; }
  /// Where cloudml-hypertune writes its metric file: /tmp/hypertune, as the program sees it.
  [[nodiscard]] std::string Metrics() const { return Tmp() + "/hypertune"; }
  /// A container's bundle and what it writes.
  [[nodiscard]] std::string Container() const { return path + "/container"; }
  /// What of ours is put into the replica (programs/runtimes/inside_tools.h).
  [[nodiscard]] std::string Tools() const { return path + "/tools"; }
  [[nodiscard]] std::string Hosts() const { return path + "/hosts"; }
  [[nodiscard]] std::string Cgroup() const { return path + "/cgroup"; }
  /// Which process is the first of its sandbox (init_note.h).
  [[nodiscard]] std::string Init() const { return path + "/init"; }
  /// Pid of the process that connects an isolated replica with the server.
  [[nodiscard]] std::string Relay() const { return path + "/relay"; }
  [[nodiscard]] std::string SupervisorLog() const { return path + "/supervisor.log"; }
};

/// Where an attempt host may leave the attempt's lock that it has taken for the supervisor.
inline constexpr int kInheritedLockFd = 3;
/// `trainyard replica --remove-container ATTEMPT_DIR` removes what a container of a killed supervisor left in
/// the directory and only users of its own namespace may remove.
inline constexpr const char* kRemoveContainer = "--remove-container";

/// "trainyard-0123456789": what cgroups and containers of an installation's attempts are called begins so,
/// since two installations on one machine have attempts of the same ids. Made from the real path of their
/// directory.
[[nodiscard]] std::string InstallationName(const std::string& attempts_dir);

/// kDataLoss: not a manifest.
[[nodiscard]] Result<v1::Manifest> ReadManifest(const AttemptDir& dir);
/// Readable by its owner only: it holds the attempt's token.
[[nodiscard]] Status WriteManifest(const AttemptDir& dir, const v1::Manifest& manifest);

/// Takes the attempt's lock. kAlreadyExists: the attempt is alive.
[[nodiscard]] Result<UniqueFd> LockAttempt(const AttemptDir& dir);
/// The lock as an attempt host hands it to the supervisor that it starts (so that the attempt is alive from
/// that moment on): `inherited` if it is the lock file, otherwise LockAttempt.
[[nodiscard]] Result<UniqueFd> LockAttempt(const AttemptDir& dir, int inherited);
/// Writes the supervisor's pid into the lock: the attempt host as soon as it knows it, the supervisor itself.
[[nodiscard]] Status SignLock(int lock, pid_t supervisor);
/// Whether something holds the lock: then the attempt is alive. A directory without a lock file is not
/// locked.
[[nodiscard]] Result<bool> IsLocked(const AttemptDir& dir);
/// The supervisor that holds the lock: the pid in it, if that process has the lock open; nothing otherwise.
[[nodiscard]] std::optional<pid_t> LockHolder(const AttemptDir& dir);
/// Every process but the calling one that has the lock open: what is left of the attempt's own.
[[nodiscard]] std::vector<pid_t> LockHolders(const AttemptDir& dir);

/// Durable when it returns: temporary file, fsync, rename.
[[nodiscard]] Status WriteExit(const AttemptDir& dir, const v1::ExitRecord& exit);
/// Nothing if there is no (whole) record.
[[nodiscard]] Result<std::optional<v1::ExitRecord>> ReadExit(const AttemptDir& dir);

}  // namespace trainyard::replica
