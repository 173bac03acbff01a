#include "programs/environment/folder_size.h"

#include <sys/stat.h>

#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <tuple>

#include "base/async/file.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBlockBytes = 512;  ///< st_blocks counts in these
constexpr std::size_t kNoteBytesMax = 200;

/// Which build it is: another one has another marker, a restored one too. Nothing: there is none.
std::optional<std::string> BuildOf(const fs::path& folder) {
  struct stat marker{};
  if (::stat(Layout::Marker(folder).c_str(), &marker) != 0) return std::nullopt;
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

std::uint64_t SizeOf(const fs::path& folder) {
  const std::optional<std::string> build = BuildOf(folder);
  if (!build) return BytesBelow(folder);
  if (const std::optional<std::uint64_t> noted = Noted(folder, *build)) return *noted;
  const std::uint64_t bytes = BytesBelow(folder);
  std::ignore = WriteFileAtomically(Layout::SizeNote(folder), std::to_string(bytes) + " " + *build + "\n");
  return bytes;
}

}  // namespace trainyard::environment
