#include "stores/backup/backup_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "stores/backup/backup_folder.h"

namespace trainyard::backup {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFolderMode = 0700;

std::unexpected<Error> Refused(std::string message) {
  return std::unexpected(InvalidArgument("directory", std::move(message)));
}

std::unexpected<Error> Failed(const std::string& what) {
  const int error_number = errno;
  return std::unexpected(ErrnoError(error_number, what));
}

/// "/a/b", without ".", ".." and "//".
bool IsNormal(const std::string& path) {
  return path.starts_with('/') && path.size() > 1 && !path.ends_with('/') &&
         fs::path(path).lexically_normal().string() == path;
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string Canonical(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? path : real.string();
}

/// Opens the next directory on the path, and creates it if needed.
Result<UniqueFd> Step(int folder, const std::string& name, const std::string& path) {
  if (::mkdirat(folder, name.c_str(), kFolderMode) != 0 && errno != EEXIST) return Failed("make " + path);
  UniqueFd next(::openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!next && (errno == ENOTDIR || errno == ELOOP))
    return Refused(path + " is a link or a file: name the folder that it leads to");
  if (!next) return Failed("open " + path);
  struct stat status{};
  if (::fstat(next.get(), &status) != 0) return Failed("stat " + path);
  const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0;
  if (others_write || (status.st_uid != 0 && status.st_uid != ::geteuid())) {
    return Refused(
        path +
        (others_write ? " can be written by other accounts (chmod go-w)" : " belongs to another account") +
        ": choose a directory that belongs only to root or the server's account");
  }
  return next;
}

}  // namespace

Status MakeBackupFolder(const std::string& path, const std::string& data,
                        const std::vector<std::string>& never_below) {
  if (!IsNormal(path)) return Refused("'" + path + "' is not an absolute path without '.' and '..'");
  const std::string own = Canonical(data);
  if (!MayHold(path, own)) {
    return Refused(path + " is in the data directory or contains it: choose a directory elsewhere, or " +
                   own + "/" + std::string(kOwnBackups) + "/NAME");
  }
  const auto holds = [&path](const std::string& folder) { return IsBelow(path, Canonical(folder)); };
  if (const auto bucket = std::ranges::find_if(never_below, holds); bucket != never_below.end())
    return Refused(path + " is below " + *bucket + ", which jobs read: name a folder elsewhere");
  UniqueFd folder(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::string walked;
  for (const fs::path& name : fs::path(path).relative_path()) {
    walked += "/" + name.string();
    TY_TRY(UniqueFd next, Step(folder.get(), name, walked));
    folder = std::move(next);
  }
  struct stat status{};
  if (::fstat(folder.get(), &status) != 0) return Failed("stat " + path);
  if (status.st_uid != ::geteuid()) return Refused(path + " belongs to another account: name one to be made");
  return {};
}

Result<std::string> AllowedPlace(const std::string& path, const std::string& base, bool by_machine) {
  if (by_machine) return path;
  if (base.empty()) {
    return std::unexpected(FailedPrecondition(
        "Through the API, backups go below the folder that the server's operator names for them: trainyard "
        "serve --backup-dir DIR. On the server's machine, root and the server's account make them elsewhere, "
        "too: trainyard admin backup DIR --data DATA"));
  }
  if (!IsNormal(path) || path == base || !IsBelow(path, base))
    return Refused("'" + path + "' is not below " + base + " (trainyard serve --backup-dir): name " + base +
                   "/NAME");
  std::error_code error;
  const fs::path real = fs::canonical(base, error);
  if (error) return std::unexpected(FailedPrecondition("--backup-dir " + base + ": " + error.message()));
  return real.string() + path.substr(base.size());
}

}  // namespace trainyard::backup
