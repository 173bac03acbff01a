#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// Removes directory trees that user code made: any depth, any names; needs two descriptors, memory per level
/// and no recursion. Links are removed, never followed; a file system mounted inside the tree is not entered.
namespace trainyard {

/// Empties one directory in steps, so that other work can run in between. Entries added meanwhile are removed
/// too, or the work fails. Blocking; one thread at a time. The destructor leaves what is not removed yet.
class TreeRemover {
 public:
  enum class What {
    kEverything,   ///< directories without permissions for their owner get them first
    kFoldersOnly,  ///< anything else is not removed and ends the work: kAborted, with its name
  };
  /// @param folder  stays open and is not removed itself.
  [[nodiscard]] static Result<TreeRemover> Below(int folder, What what);

  /// Processes about `entries_max` more entries. @return true: the directory is empty. kAborted: an entry is
  /// not a directory (kFoldersOnly), a directory was moved away meanwhile, or entries keep being added (more
  /// than kEntriesMax); errors of the file system.
  [[nodiscard]] Result<bool> Step(std::size_t entries_max);
  static constexpr std::size_t kEntriesMax = std::size_t{1} << 30;

 private:
  struct Level {
    dev_t device = 0;
    ino_t inode = 0;
    std::string name;                  ///< in the parent directory; "" for the first
    std::vector<std::string> folders;  ///< seen and not removed yet
  };
  TreeRemover(UniqueFd current, What what) : current_(std::move(current)), what_(what) {}
  Status Enter(UniqueFd folder, std::string name);
  Result<std::size_t> Scan();
  Status RemoveFolder(const std::string& name);
  Status Descend(const std::string& name);
  Status GoUp();

  UniqueFd current_;
  What what_;
  std::vector<Level> levels_;
  std::size_t seen_ = 0;
};

/// Removes a file, a link or a directory with its contents. A missing `path` is not an error. Everyone who
/// can write to the directories above `path` is trusted. Blocking.
[[nodiscard]] Status RemoveTree(const std::filesystem::path& path);

}  // namespace trainyard
