#include "programs/attempt/attempt_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include "base/async/file.h"
#include "base/number.h"
#include "base/process/process_sockets.h"
#include "programs/environment/content_hash.h"

namespace trainyard::replica {

namespace {

bool IsFile(int folder, const std::string& path, const struct stat& file) {
  struct stat found{};
  return fstatat(folder, path.c_str(), &found, 0) == 0 && found.st_dev == file.st_dev &&
         found.st_ino == file.st_ino;
}

/// Whether a process has the file open. Compares the process's descriptors, so its mounts do not matter.
bool HasOpen(const std::string& pid, const struct stat& file) {
  for (const std::filesystem::path& entry : PathsIn("/proc/" + pid + "/fd")) {
    if (IsFile(AT_FDCWD, entry, file)) return true;
  }
  return false;
}

}  // namespace

std::string InstallationName(const std::string& attempts_dir) {
  constexpr std::size_t kDigits = 10;
  return "trainyard-" + environment::NameHash().Add(RealPath(attempts_dir)).Hex().substr(0, kDigits);
}

Result<v1::Manifest> ReadManifest(const AttemptDir& dir) {
  TY_TRY(const std::string bytes, ReadFile(dir.Manifest()));
  v1::Manifest manifest;
  if (!manifest.ParseFromString(bytes) || manifest.attempt_id().empty()) {
    return std::unexpected(Error{Code::kDataLoss, dir.Manifest() + " is not a manifest", {}});
  }
  return manifest;
}

Status WriteManifest(const AttemptDir& dir, const v1::Manifest& manifest) {
  // It is not synced: a crash of the machine ends the attempt, and the job's record alone tells that it
  // existed.
  TY_TRY(const UniqueFd file, OpenFile(dir.Manifest(), O_WRONLY | O_CREAT | O_EXCL, 0600));
  return WriteAll(file.get(), manifest.SerializeAsString());
}

Result<UniqueFd> LockAttempt(const AttemptDir& dir) {
  TY_TRY(UniqueFd file, OpenFile(dir.Lock(), O_RDWR | O_CREAT, 0600));
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::unexpected(Error{Code::kAlreadyExists, "the attempt is alive", {}});
    return std::unexpected(ErrnoError(errno, "lock " + dir.Lock()));
  }
  return file;
}

Result<UniqueFd> LockAttempt(const AttemptDir& dir, int inherited) {
  struct stat file{};
  if (stat(dir.Lock().c_str(), &file) == 0 &&
      IsFile(AT_FDCWD, "/proc/self/fd/" + std::to_string(inherited), file)) {
    fcntl(inherited, F_SETFD, FD_CLOEXEC);
    return UniqueFd(inherited);
  }
  close(inherited);
  return LockAttempt(dir);
}

Status SignLock(int lock, pid_t supervisor) {
  const std::string pid = std::to_string(supervisor) + "\n";
  // At a fixed offset, since attempt host and supervisor share the file's position.
  if (pwrite(lock, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return std::unexpected(ErrnoError(errno, "sign the lock"));
  }
  return {};
}

Result<bool> IsLocked(const AttemptDir& dir) {
  auto file = OpenFile(dir.Lock(), O_RDONLY);
  if (!file && file.error().code == Code::kNotFound) return false;
  if (!file) return std::unexpected(std::move(file).error());
  if (flock(file->get(), LOCK_SH | LOCK_NB) == 0) return false;
  if (errno == EWOULDBLOCK) return true;
  return std::unexpected(ErrnoError(errno, "lock " + dir.Lock()));
}

std::optional<pid_t> LockHolder(const AttemptDir& dir) {
  const auto pid = LeadingNumber<pid_t>(ReadFile(dir.Lock()).value_or(""));
  struct stat file{};
  if (pid.value_or(0) <= 0 || stat(dir.Lock().c_str(), &file) != 0) return std::nullopt;
  return HasOpen(std::to_string(*pid), file) ? pid : std::nullopt;
}

std::vector<pid_t> LockHolders(const AttemptDir& dir) {
  std::vector<pid_t> holders;
  struct stat file{};
  if (stat(dir.Lock().c_str(), &file) != 0) return holders;
  for (const pid_t pid : AllProcesses().value_or(std::vector<pid_t>())) {
    if (pid != getpid() && HasOpen(std::to_string(pid), file)) holders.push_back(pid);
  }
  return holders;
}

Status WriteExit(const AttemptDir& dir, const v1::ExitRecord& exit) {
  return WriteFileAtomically(dir.Exit(), exit.SerializeAsString(), 0600);
}

Result<std::optional<v1::ExitRecord>> ReadExit(const AttemptDir& dir) {
  auto bytes = ReadFile(dir.Exit());
  if (!bytes && bytes.error().code == Code::kNotFound) return std::nullopt;
  if (!bytes) return std::unexpected(std::move(bytes).error());
  v1::ExitRecord exit;
  if (!exit.ParseFromString(*bytes) || exit.cause() == v1::ExitRecord::CAUSE_UNSPECIFIED) return std::nullopt;
  return exit;
}

/// Writes "NAME=value" followed by a NUL for each secret: neither name nor value contains one.
Result<UniqueFd> TakeSecretValues(v1::Manifest& manifest) {
  if (manifest.secrets().empty()) return UniqueFd();
  UniqueFd file(memfd_create("trainyard-secrets", MFD_CLOEXEC));
  if (!file) return std::unexpected(ErrnoError(errno, "memfd_create"));
  std::string text;
  for (const std::string& name : manifest.secrets()) {
    const auto value = manifest.mutable_environment()->find(name);
    if (value == manifest.mutable_environment()->end())
      return std::unexpected(Internal("the secret " + name + " has no value"));
    text.append(name).append("=").append(value->second).push_back('\0');
    manifest.mutable_environment()->erase(value);
  }
  TY_RETURN_IF_ERROR(WriteAll(file.get(), text));
  if (lseek(file.get(), 0, SEEK_SET) != 0) return std::unexpected(ErrnoError(errno, "lseek"));
  return file;
}

Status ReadSecretValues(int descriptor, v1::Manifest& manifest) {
  if (manifest.secrets().empty()) return {};
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t got = read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(ErrnoError(errno, "read the secrets"));
    if (got == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    const std::size_t equals = text.find('=', begin);
    if (equals < end)
      (*manifest.mutable_environment())[text.substr(begin, equals - begin)] =
          text.substr(equals + 1, end - equals - 1);
    begin = end + 1;
  }
  for (const std::string& name : manifest.secrets()) {
    if (!manifest.environment().contains(name))
      return std::unexpected(Error{Code::kDataLoss, "the supervisor was not given the secret " + name, {}});
  }
  return {};
}

}  // namespace trainyard::replica
