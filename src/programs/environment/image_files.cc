#include "programs/environment/image_files.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <deque>
#include <ranges>
#include <set>
#include <system_error>

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

constexpr int kLinksMax = 40;

bool IsWhiteout(const struct stat& entry) { return S_ISCHR(entry.st_mode) && entry.st_rdev == 0; }

/// Whether the directory hides those of lower layers.
bool IsOpaque(const fs::path& directory) {
  for (const char* name : {"user.overlay.opaque", "trusted.overlay.opaque"}) {
    char value = 0;
    if (::lgetxattr(directory.c_str(), name, &value, 1) == 1 && value == 'y') return true;
  }
  return false;
}

enum class InLayer { kThere, kNotThere, kDeleted };

/// Whether one layer has the path, or hides it from those below.
InLayer LookInLayer(const fs::path& layer, const fs::path& inside) {
  fs::path at = layer;
  bool opaque = false;
  const fs::path relative = inside.relative_path();
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    at /= *part;
    struct stat entry{};
    if (::lstat(at.c_str(), &entry) != 0) return opaque ? InLayer::kDeleted : InLayer::kNotThere;
    if (IsWhiteout(entry)) return InLayer::kDeleted;
    const bool last = std::next(part) == relative.end();
    if (!last && !S_ISDIR(entry.st_mode)) return InLayer::kDeleted;
    opaque = opaque || (S_ISDIR(entry.st_mode) && IsOpaque(at));
  }
  return InLayer::kThere;
}

/// Puts the parts of the path in front of the remaining ones.
void Prepend(std::deque<fs::path>& parts, const fs::path& path) {
  const std::vector<fs::path> added(path.begin(), path.end());
  parts.insert(parts.begin(), added.begin(), added.end());
}

}  // namespace

std::optional<fs::path> ImageFiles::Look(const fs::path& inside) const {
  for (const fs::path& layer : layers_ | std::views::reverse) {
    switch (LookInLayer(layer, inside)) {
      case InLayer::kThere: return layer / inside.relative_path();
      case InLayer::kDeleted: return std::nullopt;
      case InLayer::kNotThere: break;
    }
  }
  return std::nullopt;
}

std::optional<ImageFiles::Entry> ImageFiles::Find(const fs::path& inside) const {
  std::deque<fs::path> parts;
  Prepend(parts, inside.lexically_normal().relative_path());
  Entry found{.inside = "/", .outside = {}, .is_directory = true};
  int links = 0;
  while (!parts.empty()) {
    const fs::path part = parts.front();
    parts.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      found.inside = found.inside.parent_path();
      continue;
    }
    const fs::path next = found.inside / part;
    const auto entry = Look(next);
    if (!entry) return std::nullopt;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(*entry, error);
    if (fs::is_symlink(status)) {
      if (++links > kLinksMax) return std::nullopt;
      const fs::path target = fs::read_symlink(*entry, error);
      if (error) return std::nullopt;
      if (target.is_absolute()) found.inside = "/";
      Prepend(parts, target.relative_path());
      continue;
    }
    if (!fs::is_directory(status) && (!fs::is_regular_file(status) || !parts.empty())) return std::nullopt;
    found = {.inside = next, .outside = *entry, .is_directory = fs::is_directory(status)};
  }
  return found;
}

Result<std::vector<std::string>> ImageFiles::List(const fs::path& directory) const {
  std::set<std::string> names;
  for (const fs::path& layer : layers_ | std::views::reverse) {
    const InLayer in_layer = LookInLayer(layer, directory);
    if (in_layer == InLayer::kNotThere) continue;
    const fs::path at = layer / directory.relative_path();
    std::error_code error;
    // A link would lead out of the image, so nothing below it is visible.
    if (in_layer == InLayer::kDeleted || !fs::is_directory(fs::symlink_status(at, error))) break;
    for (fs::directory_iterator entry(at, error), end; !error && entry != end; entry.increment(error)) {
      names.insert(entry->path().filename().native());
      if (names.size() > kNamesMax)
        return std::unexpected(FailedPrecondition(directory.string() + " of the image has more than " +
                                                  std::to_string(kNamesMax) + " files"));
    }
    if (error) return std::unexpected(ErrnoError(error.value(), "read " + at.string()));
  }
  std::vector<std::string> there;
  for (const std::string& name : names)
    if (Look(directory / name)) there.push_back(name);
  return there;
}

}  // namespace trainyard::environment
