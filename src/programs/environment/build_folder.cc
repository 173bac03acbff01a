#include "programs/environment/build_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <tuple>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "programs/environment/folder_size.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

Status Prepare(const fs::path& folder) {
  TY_RETURN_IF_ERROR(RemoveTree(folder));
  return MakeFolders(folder);
}

/// After a power cut the marker must not be there without the folder's files.
Status Seal(const fs::path& folder, const std::string& python_version) {
  TY_TRY(const UniqueFd directory, OpenFile(folder, O_RDONLY | O_DIRECTORY));
  if (::syncfs(directory.get()) != 0) return std::unexpected(ErrnoError(errno, "syncfs " + folder.string()));
  return WriteFileAtomically(Layout::Marker(folder), python_version);
}

}  // namespace

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
    std::ignore = SizeOf(folder);  // noted now, so that nobody who lists it has to walk it
  else if (lock.Confirm())
    std::ignore = RemoveTree(folder);  // the build's error is what the caller needs
  return done;
}

}  // namespace trainyard::environment
