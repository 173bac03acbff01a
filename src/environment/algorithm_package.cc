#include "environment/algorithm_package.h"

#include <unistd.h>

#include <string>
#include <system_error>

#include "algorithms/algorithm.h"
#include "async/file.h"
#include "environment/name_hash.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashDigits = 12;

std::string ContentHash() {
  NameHash hash;
  for (const algorithms::PackageFile& file : algorithms::PackageFiles()) hash.Add(file.name).Add(file.bytes);
  return hash.Hex().substr(0, kHashDigits);
}

Status WriteFiles(const fs::path& folder) {
  for (const algorithms::PackageFile& file : algorithms::PackageFiles()) {
    const fs::path path = folder / file.name;
    TY_RETURN_IF_ERROR(MakeFolders(path.parent_path()));
    TY_RETURN_IF_ERROR(WriteFileAtomically(path, file.bytes));
  }
  // Readable by whatever user a replica's program has.
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    fs::permissions(entry.path(), fs::perms(entry.is_directory() ? 0755 : 0644), error);
  fs::permissions(folder, fs::perms(0755), error);
  return error ? std::unexpected(ErrnoError(error.value(), "chmod " + folder.string())) : Status{};
}

}  // namespace

fs::path AlgorithmFolder(const Layout& layout) {
  static const std::string kHash = ContentHash();
  return layout.root / "algorithms" / kHash;
}

Status InstallAlgorithms(const Layout& layout) {
  const fs::path folder = AlgorithmFolder(layout);
  if (::access(folder.c_str(), R_OK | X_OK) == 0) return {};
  const fs::path staged = folder.string() + "." + std::to_string(::getpid());
  std::error_code error;
  fs::remove_all(staged, error);
  TY_RETURN_IF_ERROR(MakeFolders(staged));
  Status written = WriteFiles(staged);
  if (written) {
    fs::rename(staged, folder, error);
    if (!error) return {};
    if (::access(folder.c_str(), R_OK | X_OK) != 0)  // nobody else was faster
      written = std::unexpected(ErrnoError(error.value(), "rename " + staged.string()));
  }
  fs::remove_all(staged, error);
  return written;
}

}  // namespace trainyard::environment
