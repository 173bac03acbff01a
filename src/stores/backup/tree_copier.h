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

/// Copies trees of files that others write to meanwhile, with modes (but setuid and setgid), owners and
/// times. Regular files, folders and symbolic links; nothing else. Never follows a link: what is below the
/// folder named is what is copied. A file that vanishes is left out; one that is written to may be half new.
/// Blocking; one thread. Not durable by itself (MarkedFolder::Finish).
class TreeCopier {
 public:
  struct Options {
    /// Files that may be hard-linked instead; null: none. Where the file system shares blocks between files
    /// (reflinks), that is done instead of linking.
    std::function<bool(const struct stat& file)> may_link = nullptr;
    /// Told of each file once it is open, before it is copied, with its path below the folder; null: nobody.
    std::function<Status(const std::string& path, const struct stat& file)> before_copy = nullptr;
    bool refuses_links = false;  ///< symbolic ones: kFailedPrecondition, with the name
    std::function<void(const TreeCounts& counts)> on_progress = nullptr;  ///< after each file
    std::stop_token stop{};
  };
  explicit TreeCopier(Options options) : options_(std::move(options)) {}

  /// A folder's contents from one path to another, or one file, whose name is the same in both. What is there
  /// already stays: a second call adds what came meanwhile. kCancelled: `stop`; kResourceExhausted: the disk
  /// is full.
  [[nodiscard]] Status Copy(const std::string& source, const std::string& target);

  /// The entry of that name, from one open folder to another. Nothing outside of both is reached: a link of
  /// that name is kFailedPrecondition, as one below it with `refuses_links`.
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
  std::string folder_;  ///< below the one named, with its end: "a/b/"
  bool can_clone_ = true;
  bool can_link_ = true;
};

}  // namespace trainyard::backup
