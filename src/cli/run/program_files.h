#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/run/wheel.h"

namespace trainyard::cli {

/// Python modules are needed whatever else there is; more than this is no program's own source.
inline constexpr std::size_t kModuleFilesMax = 2'000;
inline constexpr std::uintmax_t kModuleBytesMax = std::uintmax_t{16} << 20;
/// Other files beside the program. What does not fit stays behind, the largest first: it belongs in a bucket.
inline constexpr std::uintmax_t kDataBytesMax = std::uintmax_t{64} << 20;
/// Files and folders that are looked at: a program in a home directory is no reason to read all of it.
inline constexpr int kEntriesMax = 20'000;

/// What comes along from a folder.
struct CollectedFiles {
  std::vector<ProgramFile> files;  ///< by path
  /// A file or folder of the top that stays behind, whole or but for its modules.
  struct LargeData {
    std::string name;
    std::uintmax_t bytes = 0;
    bool too_many = false;  ///< more entries than are looked at: `bytes` counts those that were
  };
  std::vector<LargeData> left_behind;
  /// The files that are not uploaded, by path, each with the reason ("a link to a folder").
  struct SkippedFile {
    std::string path;
    std::string_view why{};
    friend bool operator==(const SkippedFile&, const SkippedFile&) = default;
  };
  std::vector<SkippedFile> skipped;
};

struct CollectOptions {
  std::filesystem::path folder;
  /// The entry of the folder whose data files are uploaded, too; not set: those of all entries. Of other
  /// entries only the modules that can be imported are uploaded.
  std::optional<std::string> only_data_of;
};

/// Modules and data in the folder. Left out without a word: hidden files, __pycache__ and *.pyc,
/// environments (a pyvenv.cfg in them, or named venv), node_modules, *.egg-info. Errors: the folder itself
/// cannot be read; kResourceExhausted beyond the modules' limits.
[[nodiscard]] Result<CollectedFiles> CollectFiles(const CollectOptions& options);

/// "5.2 GB"
[[nodiscard]] std::string SizeText(std::uintmax_t bytes);

}  // namespace trainyard::cli
