#include "engine/testing/simulated_sync.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace trainyard::engine {

namespace {

namespace fs = std::filesystem;
using FileNumber = std::pair<dev_t, ino_t>;

struct Synced {
  std::map<FileNumber, std::int64_t> bytes;
  std::set<std::pair<FileNumber, std::string>> names;  ///< directory, name
};

Synced& synced() {
  static Synced all;
  return all;
}

FileNumber NumberOf(const struct stat& file) { return {file.st_dev, file.st_ino}; }

/// Every name in the folder, the deepest first.
std::vector<fs::path> NamesBelow(const std::string& folder) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) paths.push_back(entry.path());
  std::ranges::sort(paths, std::greater());
  return paths;
}

}  // namespace

void LoseUnsynced(const std::string& folder, std::mt19937_64& random) {
  std::error_code ignored;
  for (const fs::path& path : NamesBelow(folder)) {
    struct stat file{};
    struct stat above{};
    if (::stat(path.c_str(), &file) != 0 || ::stat(path.parent_path().c_str(), &above) != 0) continue;
    if (!synced().names.contains({NumberOf(above), path.filename()}) && random() % 2 == 0) {
      fs::remove_all(path, ignored);
    } else if (S_ISREG(file.st_mode)) {
      const auto found = synced().bytes.find(NumberOf(file));
      const std::int64_t kept = found == synced().bytes.end() ? 0 : found->second;
      if (kept >= file.st_size) continue;
      const auto left =
          kept + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(file.st_size - kept + 1));
      fs::resize_file(path, static_cast<std::uintmax_t>(left), ignored);
    }
  }
}

void ForgetSyncs(const std::string& folder) {
  std::vector<fs::path> paths = NamesBelow(folder);
  paths.emplace_back(folder);
  for (const fs::path& path : paths) {
    struct stat file{};
    if (::stat(path.c_str(), &file) != 0) continue;
    synced().bytes.erase(NumberOf(file));
    std::erase_if(synced().names, [&](const auto& name) { return name.first == NumberOf(file); });
  }
}

namespace {

void Note(int descriptor) {
  struct stat file{};
  if (::fstat(descriptor, &file) != 0) return;
  if (S_ISREG(file.st_mode)) synced().bytes[NumberOf(file)] = file.st_size;
  if (!S_ISDIR(file.st_mode)) return;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd/" + std::to_string(descriptor), ignored))
    synced().names.insert({NumberOf(file), entry.path().filename()});
}

}  // namespace
}  // namespace trainyard::engine

// These functions replace those of the C library.
extern "C" {

int fsync(int descriptor) {
  trainyard::engine::Note(descriptor);
  return 0;
}

int fdatasync(int descriptor) {
  trainyard::engine::Note(descriptor);
  return 0;
}
}
