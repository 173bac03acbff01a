#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// The names of files in one attempt's directory, which the supervisor and the attempt host share. The lock
/// is taken before any process of the attempt runs. The supervisor, its sandbox's init process and its relay
/// hold it, but never a program of the user, which could release it. It is free when the whole attempt has
/// ended, unless supervisor and init process were both killed: then the processes that the notes name
/// (Init(), Cgroup()) may live for a moment longer.
struct AttemptDir {
  std::string path;
  /// A directory that the program's container has under the same path; empty: it has Tmp() as its /tmp.
  std::string shared{};

  [[nodiscard]] std::string Manifest() const { return path + "/manifest.pb"; }
  [[nodiscard]] std::string Lock() const { return path + "/lock"; }
  [[nodiscard]] std::string Spool() const { return path + "/spool"; }
  [[nodiscard]] std::string Exit() const { return path + "/exit.pb"; }
  [[nodiscard]] std::string Work() const { return path + "/work"; }
  [[nodiscard]] std::string Home() const { return path + "/home"; }
  [[nodiscard]] std::string Tmp() const { return path + "/tmp"; }
  /// The directory of cloudml-hypertune's metric file: /tmp/hypertune, as the program sees it.
  [[nodiscard]] std::string Metrics() const { return (shared.empty() ? Tmp() : shared) + "/hypertune"; }
  /// Holds the changes that the program makes to its installed packages.
  [[nodiscard]] std::string Installed() const { return path + "/installed"; }
  /// A container's bundle and the files that it writes.
  [[nodiscard]] std::string Container() const { return path + "/container"; }
  [[nodiscard]] std::string Hosts() const { return path + "/hosts"; }
  [[nodiscard]] std::string Cgroup() const { return path + "/cgroup"; }
  /// The note about the first process of the sandbox (init_note.h).
  [[nodiscard]] std::string Init() const { return path + "/init"; }
  /// Pid of the process that connects an isolated replica with the server.
  [[nodiscard]] std::string Relay() const { return path + "/relay"; }
  [[nodiscard]] std::string SupervisorLog() const { return path + "/supervisor.log"; }
};

/// The descriptor as which an attempt host may pass the attempt's lock to the supervisor.
inline constexpr int kInheritedLockFd = 3;
/// `trainyard replica --remove-container ATTEMPT_DIR` removes files that a container of a killed supervisor
/// left in the directory and that only users of its own namespace may remove.
inline constexpr const char* kRemoveContainer = "--remove-container";

/// "trainyard-0123456789": the prefix of the names of cgroups and containers of an installation's attempts,
/// since two installations on one machine may have attempts with the same ids. Made from the real path of the
/// attempts' directory.
[[nodiscard]] std::string InstallationName(const std::string& attempts_dir);

/// kDataLoss: not a manifest.
[[nodiscard]] Result<v1::Manifest> ReadManifest(const AttemptDir& dir);
/// Readable by its owner only: it holds the attempt's token.
[[nodiscard]] Status WriteManifest(const AttemptDir& dir, const v1::Manifest& manifest);

/// Takes the attempt's lock. kAlreadyExists: the attempt is alive.
[[nodiscard]] Result<UniqueFd> LockAttempt(const AttemptDir& dir);
/// Returns the lock that an attempt host handed to the supervisor (so that the attempt is alive from its
/// start on): `inherited` if it is the lock file, otherwise the result of LockAttempt.
[[nodiscard]] Result<UniqueFd> LockAttempt(const AttemptDir& dir, int inherited);
/// Writes the supervisor's pid into the lock. The attempt host does so as soon as it knows the pid, and so
/// does the supervisor itself.
[[nodiscard]] Status SignLock(int lock, pid_t supervisor);
/// Whether something holds the lock: then the attempt is alive. A directory without a lock file is not
/// locked.
[[nodiscard]] Result<bool> IsLocked(const AttemptDir& dir);
/// The supervisor that holds the lock: the pid in it, if that process has the lock open; nothing otherwise.
[[nodiscard]] std::optional<pid_t> LockHolder(const AttemptDir& dir);
/// Every process except the calling one that has the lock open: the rest of the attempt's own processes.
[[nodiscard]] std::vector<pid_t> LockHolders(const AttemptDir& dir);

/// Durable when it returns: temporary file, fsync, rename.
[[nodiscard]] Status WriteExit(const AttemptDir& dir, const v1::ExitRecord& exit);
/// Empty if there is no complete record.
[[nodiscard]] Result<std::optional<v1::ExitRecord>> ReadExit(const AttemptDir& dir);

/// Moves the values of the manifest's secrets into a file in memory, for the supervisor's standard input: the
/// manifest on disk does not contain them. Any thread.
/// Empty if there are none.
[[nodiscard]] Result<UniqueFd> TakeSecretValues(v1::Manifest& manifest);

/// Puts the values back into the manifest, in the supervisor; reads nothing for a manifest without secrets.
/// kDataLoss: some are missing.
[[nodiscard]] Status ReadSecretValues(int descriptor, v1::Manifest& manifest);

}  // namespace trainyard::replica
