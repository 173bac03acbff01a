#include "programs/environment/algorithm_package.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>

#include "base/async/file.h"
#include "programs/environment/content_hash.h"
#include "rules/algorithms/algorithm.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

constexpr fs::perms kReadableFile =
    fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read | fs::perms::others_read;
constexpr fs::perms kReadableFolder =
    kReadableFile | fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
constexpr std::chrono::hours kStagedAgeMax{1};

std::string HashOfPackage() {
  NameHash hash;
  for (const algorithms::PackageFile& file : algorithms::PackageFiles()) hash.Add(file.name).Add(file.bytes);
  return hash.Hex().substr(0, kHashDigits);
}

Status WriteFile(const fs::path& path, std::string_view bytes) {
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY | O_CREAT | O_EXCL));
  TY_RETURN_IF_ERROR(WriteAll(file.get(), bytes));
  if (::fsync(file.get()) != 0) return std::unexpected(ErrnoError(errno, "fsync " + path.string()));
  return {};
}

/// Writes all files below the directory, readable by every user that a replica's program may have.
Status WriteFiles(const fs::path& folder) {
  for (const algorithms::PackageFile& file : algorithms::PackageFiles()) {
    const fs::path path = folder / file.name;
    TY_RETURN_IF_ERROR(MakeFolders(path.parent_path()));
    TY_RETURN_IF_ERROR(WriteFile(path, file.bytes));
  }
  std::error_code error;
  fs::permissions(folder.parent_path(), kReadableFolder, error);
  if (!error) fs::permissions(folder, kReadableFolder, error);
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    fs::permissions(entry->path(), entry->is_directory() ? kReadableFolder : kReadableFile, error);
  return error ? std::unexpected(ErrnoError(error.value(), "chmod " + folder.string())) : Status{};
}

/// Removes incomplete directories of killed preparations. Directories of other versions stay: jobs may use
/// them.
void RemoveLeftovers(const fs::path& parent) {
  std::error_code ignored;
  const auto oldest = fs::file_time_type::clock::now() - kStagedAgeMax;
  for (fs::directory_iterator entry(parent, ignored), end; entry != end; entry.increment(ignored)) {
    const bool is_staged = entry->path().has_extension();
    if (is_staged && fs::last_write_time(entry->path(), ignored) < oldest)
      fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace

fs::path AlgorithmFolder(const Layout& layout) {
  static const std::string kHash = HashOfPackage();
  return layout.root / "algorithms" / kHash;
}

Status InstallAlgorithms(const Layout& layout) {
  const fs::path folder = AlgorithmFolder(layout);
  if (::access(folder.c_str(), R_OK | X_OK) == 0) return {};
  TY_RETURN_IF_ERROR(MakeFolders(folder.parent_path()));
  // A unique name. A pid would not do: supervisors have pid namespaces, and so may have equal pids.
  std::string name = folder.string() + ".XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return std::unexpected(ErrnoError(errno, "mkdir " + name));
  const fs::path staged = name;
  Status written = WriteFiles(staged);
  std::error_code error;
  if (written) {
    fs::rename(staged, folder, error);
    if (!error) {
      RemoveLeftovers(folder.parent_path());
      return SyncDirectory(folder.parent_path());
    }
    if (::access(folder.c_str(), R_OK | X_OK) != 0)  // no other process was faster
      written = std::unexpected(ErrnoError(error.value(), "rename " + staged.string()));
  }
  fs::remove_all(staged, error);
  return written;
}

}  // namespace trainyard::environment
