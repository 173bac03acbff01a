#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// Removing trees that user code made: any depth, any names, with two descriptors, memory per level and no
/// recursion. Links are removed, never followed; another file system that is mounted inside is not entered.
namespace trainyard {

/// Empties one folder in steps, so that other work can run in between. What others add meanwhile is
/// removed too, or refused. Blocking; one thread at a time. The destructor leaves
/// what is not removed yet.
class TreeRemover {
 public:
  enum class What {
    kEverything,   ///< folders closed to their owner are opened for it
    kFoldersOnly,  ///< anything else is left and ends the work: kAborted, with its name
  };
  /// @param folder  stays open and is not removed itself.
  [[nodiscard]] static Result<TreeRemover> Below(int folder, What what);

  /// Looks at about `entries_max` entries more. @return true: the folder is empty. kAborted: something else
  /// than a folder is there, a folder was moved away meanwhile, or entries keep coming (more than
  /// kEntriesMax); errors of the file system.
  [[nodiscard]] Result<bool> Step(std::size_t entries_max);
  static constexpr std::size_t kEntriesMax = std::size_t{1} << 30;

 private:
  struct Level {
    dev_t device = 0;
    ino_t inode = 0;
    std::string name;                  ///< in the folder above; "" for the first
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

/// Removes a file, a link or a folder with all that is in it. Nothing there is no error. Whoever can write to
/// the folders above `path` is trusted. Blocking.
[[nodiscard]] Status RemoveTree(const std::filesystem::path& path);

}  // namespace trainyard
