#include "base/async/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <thread>
#include <utility>

namespace trainyard {

namespace {

Error FileError(int error_number, std::string_view call, const std::filesystem::path& path) {
  return ErrnoError(error_number, std::string(call) + " " + path.string());
}

/// Replaces the file with a temporary file from the same directory. `sync`: makes its contents durable, but
/// not yet its name.
Status Replace(const std::filesystem::path& path, std::string_view contents, mode_t mode, bool sync) {
  std::string temporary = (path.parent_path() / ("." + path.filename().string() + ".XXXXXX")).string();
  const UniqueFd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return std::unexpected(FileError(errno, "create", path));
  Status written = WriteAll(file.get(), contents);
  if (!written) {
    written.error().message = path.string() + ": " + written.error().message;
  } else if (::fchmod(file.get(), mode) != 0) {
    written = std::unexpected(FileError(errno, "chmod", path));
  } else if (sync && ::fsync(file.get()) != 0) {
    written = std::unexpected(FileError(errno, "fsync", path));
  } else if (::rename(temporary.c_str(), path.c_str()) != 0) {
    written = std::unexpected(FileError(errno, "rename", path));
  }
  if (!written) ::unlink(temporary.c_str());
  return written;
}

std::error_code ReadEntries(const std::filesystem::path& directory,
                            std::vector<std::filesystem::path>& paths) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    paths.push_back(entry->path());
  return error;
}

constexpr std::chrono::milliseconds kPoll{20};  ///< flock(2) has no time limit of its own

}  // namespace

Result<UniqueFd> OpenFile(const std::filesystem::path& path, int flags, mode_t mode) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return std::unexpected(FileError(errno, "open", path));
  return UniqueFd(descriptor);
}

Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t bytes_max) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_RDONLY));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return std::unexpected(FileError(errno, "stat", path));
  std::string contents;
  std::size_t filled = 0;
  // Files in /proc report size 0, and other files grow: the size is only a first guess.
  constexpr off_t kUnknownGuess = 4095;
  const off_t guess = status.st_size > 0 ? status.st_size : kUnknownGuess;
  contents.resize(std::min(static_cast<std::size_t>(guess) + 1, bytes_max + 1));
  while (true) {
    const ssize_t got = ::read(file.get(), contents.data() + filled, contents.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(FileError(errno, "read", path));
    filled += static_cast<std::size_t>(got);
    if (filled > bytes_max) {
      const std::string limit = std::to_string(bytes_max);
      return std::unexpected(
          Error{Code::kOutOfRange, path.string() + " is larger than " + limit + " bytes", ""});
    }
    if (got == 0) break;
    if (filled == contents.size()) contents.resize(std::min(filled * 2, bytes_max + 1));
  }
  contents.resize(filled);
  return contents;
}

Status WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::unexpected(ErrnoError(errno, "write"));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status WriteFileAtomically(const std::filesystem::path& path, std::string_view contents, mode_t mode) {
  TY_RETURN_IF_ERROR(Replace(path, contents, mode, true));
  return SyncDirectory(path.has_parent_path() ? path.parent_path() : ".");
}

Status ReplaceFile(const std::filesystem::path& path, std::string_view contents, mode_t mode) {
  return Replace(path, contents, mode, false);
}

const std::string& BootId() {
  static const std::string id = [] {
    std::string text = ReadFile("/proc/sys/kernel/random/boot_id").value_or("");
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }();
  return id;
}

Status MakeFolders(const std::filesystem::path& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) return {};
  int reason = errno;
  const std::filesystem::path above = path.parent_path();
  if (reason == ENOENT && !above.empty() && above != path) {
    TY_RETURN_IF_ERROR(MakeFolders(above, mode));
    if (::mkdir(path.c_str(), mode) == 0) return {};
    reason = errno;
  }
  // In a read-only parent, mkdir may fail with EROFS although the directory exists.
  struct stat there{};
  if (::stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) return {};
  return std::unexpected(FileError(reason, "mkdir", path));
}

Status MakePrivateFolder(const std::filesystem::path& path) {
  constexpr mode_t kOwnersAlone = 0700;
  constexpr mode_t kPermissions = 07777;
  TY_RETURN_IF_ERROR(MakeFolders(path, kOwnersAlone));
  struct stat there{};
  if (::stat(path.c_str(), &there) != 0) return std::unexpected(FileError(errno, "stat", path));
  if ((there.st_mode & kPermissions) == kOwnersAlone || ::chmod(path.c_str(), kOwnersAlone) == 0) return {};
  return std::unexpected(FileError(errno, "chmod", path));
}

std::string RealPath(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  // The kernel tells the path of an open file with three calls; realpath(3) makes one for each directory.
  const UniqueFd file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  const std::string link = "/proc/self/fd/" + std::to_string(file.get());
  const ssize_t size = file ? ::readlink(link.c_str(), real.data(), real.size()) : -1;
  const std::string_view found(real.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (found.starts_with('/') && found.size() < real.size() && !found.ends_with(" (deleted)"))
    return std::string(found);
  return realpath(path.c_str(), real.data()) != nullptr ? real.data() : path;
}

Result<std::vector<std::filesystem::path>> EntriesOf(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  const std::error_code error = ReadEntries(directory, paths);
  if (error && error != std::errc::no_such_file_or_directory)
    return std::unexpected(ErrnoError(error.value(), "read " + directory.string()));
  return paths;
}

std::vector<std::filesystem::path> PathsIn(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  std::ignore = ReadEntries(directory, paths);
  return paths;
}

Status SyncDirectory(const std::filesystem::path& path) {
  TY_TRY(const UniqueFd folder, OpenFile(path, O_RDONLY | O_DIRECTORY));
  if (::fsync(folder.get()) != 0) return std::unexpected(FileError(errno, "fsync", path));
  return {};
}

Result<bool> TakeLock(int descriptor, std::chrono::milliseconds wait_max) {
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return std::unexpected(ErrnoError(errno, "lock"));
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

}  // namespace trainyard
