#include "programs/environment/build_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <tuple>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBlockBytes = 512;  ///< st_blocks counts in these
constexpr std::size_t kNoteBytesMax = 200;

/// Identifies the build: another build has another marker, and so does a restored one. Empty: there is none.
std::optional<std::string> BuildOf(const fs::path& marker_file) {
  struct stat marker{};
  if (::stat(marker_file.c_str(), &marker) != 0) return std::nullopt;
  return std::to_string(marker.st_dev) + " " + std::to_string(marker.st_ino) + " " +
         std::to_string(marker.st_mtim.tv_sec) + "." + std::to_string(marker.st_mtim.tv_nsec);
}

std::optional<std::uint64_t> Noted(const fs::path& folder, const std::string& build) {
  const Result<std::string> note = ReadFile(Layout::SizeNote(folder), kNoteBytesMax);
  if (!note) return std::nullopt;
  std::istringstream text(*note);
  std::uint64_t bytes = 0;
  std::string of;
  if (!(text >> bytes) || !std::getline(text >> std::ws, of) || of != build) return std::nullopt;
  return bytes;
}

Status Prepare(const fs::path& folder) {
  TY_RETURN_IF_ERROR(RemoveTree(folder));
  return MakeFolders(folder);
}

/// After a power cut the marker must not exist without the directory's files.
Status Seal(const fs::path& folder, const std::string& python_version) {
  TY_TRY(const UniqueFd directory, OpenFile(folder, O_RDONLY | O_DIRECTORY));
  if (::syncfs(directory.get()) != 0) return std::unexpected(ErrnoError(errno, "syncfs " + folder.string()));
  return WriteFileAtomically(Layout::Marker(folder), python_version);
}

}  // namespace

std::uint64_t BytesBelow(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::set<ino_t> seen;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; at != end; at.increment(error)) {
    struct stat status{};
    if (error || ::lstat(at->path().c_str(), &status) != 0) continue;
    if (status.st_nlink > 1 && !S_ISDIR(status.st_mode) && !seen.insert(status.st_ino).second) continue;
    bytes += static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes;
  }
  return bytes;
}

std::uint64_t SizeOf(const fs::path& folder) { return SizeSince(Layout::Marker(folder), folder); }

std::uint64_t SizeSince(const fs::path& marker, const fs::path& folder) {
  const std::optional<std::string> build = BuildOf(marker);
  if (!build) return BytesBelow(folder);
  if (const std::optional<std::uint64_t> noted = Noted(folder, *build)) return *noted;
  const std::uint64_t bytes = BytesBelow(folder);
  std::ignore = WriteFileAtomically(Layout::SizeNote(folder), std::to_string(bytes) + " " + *build + "\n");
  return bytes;
}

bool IsComplete(const fs::path& folder) {
  return ::access(Layout::Marker(folder).c_str(), F_OK) == 0 &&
         ::access(Layout::Interpreter(folder).c_str(), X_OK) == 0;
}

Status BuildOnce(const fs::path& folder, const std::function<void()>& waiting,
                 const std::function<Result<std::string>(const BuildLock& lock)>& build,
                 const std::stop_token& stop) {
  if (IsComplete(folder)) return {};
  TY_RETURN_IF_ERROR(MakeFolders(folder.parent_path()));
  TY_TRY(const BuildLock lock, BuildLock::Acquire(Layout::Lock(folder), waiting, stop));
  if (IsComplete(folder)) return {};
  Status done = Prepare(folder);
  if (done) {
    const Result<std::string> python_version = build(lock);
    done = python_version ? lock.Confirm() : std::unexpected(python_version.error());
    if (done) done = Seal(folder, *python_version);
  }
  if (done)
    std::ignore = SizeOf(folder);  // recorded now, so that listing does not have to walk the directory
  else if (lock.Confirm())
    std::ignore = RemoveTree(folder);  // the caller needs the build's error
  return done;
}

}  // namespace trainyard::environment
