#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace trainyard::backup {

/// What was copied so far.
struct TreeCounts {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t linked_files = 0;
  friend bool operator==(const TreeCounts&, const TreeCounts&) = default;
};

/// Copies trees of files that others may be writing to, with modes (except setuid and setgid), owners and
/// times. Regular files, directories and symbolic links; nothing else. Never follows a link: only what is
/// below the named directory is copied. A file that vanishes is left out; one that is being written to may be
/// a mix of old and new. Blocking; one thread. Not durable by itself (MarkedFolder::Finish).
class TreeCopier {
 public:
  struct Options {
    /// Whether a file may be hard-linked instead; null: no file. If the file system can share blocks between
    /// files (reflinks), that is done instead of linking.
    std::function<bool(const struct stat& file)> may_link = nullptr;
    /// Called for each file once it is open, before it is copied, with its path below the directory; may be
    /// null.
    std::function<Status(const std::string& path, const struct stat& file)> before_copy = nullptr;
    bool refuses_links = false;  ///< fail on symbolic links: kFailedPrecondition, with the name
    std::function<void(const TreeCounts& counts)> on_progress = nullptr;  ///< after each file
    std::stop_token stop{};
  };
  explicit TreeCopier(Options options) : options_(std::move(options)) {}

  /// Copies the contents of a directory, or one file (which has the same name in both paths). Existing files
  /// stay: a second call adds what was created meanwhile. kCancelled: `stop` was requested;
  /// kResourceExhausted: the disk is full.
  [[nodiscard]] Status Copy(const std::string& source, const std::string& target);

  /// Copies the entry of that name from one open directory to another. Nothing outside of both is reached: a
  /// link of that name is kFailedPrecondition, and with `refuses_links` so is one below it.
  [[nodiscard]] Status CopyAt(int source, int target, const std::string& name);

  [[nodiscard]] const TreeCounts& counts() const noexcept { return counts_; }

 private:
  Status CopyFolder(int source, int target);
  Status CopyEntry(int source, int target, const char* name);
  Status EnterFolder(int source, int target, const char* name);
  Status CopyFile(int source, int target, const char* name, const struct stat& seen);
  bool Link(int source, int target, const char* name, const struct stat& seen);
  bool Clone(int source, int target);
  void Count(std::int64_t bytes, bool linked);

  Options options_;
  TreeCounts counts_;
  int depth_ = 0;
  std::string folder_;  ///< the current directory below the named one, with a slash: "a/b/"
  bool can_clone_ = true;
  bool can_link_ = true;
};

}  // namespace trainyard::backup
