#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/environment/runtime_version.h"

namespace trainyard::environment {

/// An interpreter of this machine.
struct Python {
  std::string version;  ///< "3.11"
  std::string path;     ///< absolute
  std::vector<std::string>
      modules{};  ///< installed modules, of those that runtime versions take from the system
  std::vector<std::string> package_folders{};  ///< where its packages are installed
  friend bool operator==(const Python&, const Python&) = default;
};

/// The interpreters of this machine, one for each version. A value.
struct AvailablePythons {
  std::vector<Python> pythons;

  /// Null if there is none of that version. Valid as long as this.
  [[nodiscard]] const Python* Find(std::string_view version) const {
    for (const Python& python : pythons)
      if (python.version == version) return &python;
    return nullptr;
  }
};

/// The runtime version of a job that names none.
inline constexpr std::string_view kDefaultRuntimeVersion = "2.15";
/// The oldest Python that environments can be built with: the oldest that current pip and uv support.
inline constexpr std::pair<int, int> kPythonMin{3, 7};

enum class FallbackPolicy {
  kNearest,  ///< --runtime-fallback nearest
  kNone,     ///< --runtime-fallback none
};

/// The runtime version that a job gets.
struct Resolution {
  std::string version;
  std::string python;  ///< "3.11"
  std::string note;    ///< for the job's log as a warning; empty if the job gets what it asked for
  friend bool operator==(const Resolution&, const Resolution&) = default;
};

/// All runtime versions, a value. Any thread.
class Catalogue {
 public:
  explicit Catalogue(std::vector<RuntimeVersion> versions);

  /// The built-in versions and those of ENVIRONMENTS_DIR/runtimes.d/VERSION.json, which add or replace.
  /// kInvalidArgument with the file's path if one of those is not a valid definition.
  [[nodiscard]] static Result<Catalogue> Load(const std::filesystem::path& environments_dir);

  /// Null if there is no such version. Valid as long as the catalogue.
  [[nodiscard]] const RuntimeVersion* Find(std::string_view version) const;

  /// By number, 1.9 before 1.10; those that are not numbers last.
  [[nodiscard]] const std::vector<RuntimeVersion>& versions() const noexcept { return versions_; }

  /// Decides which runtime version a job runs with: the requested one with its Python if that is installed,
  /// or the version of its name for that Python, otherwise with another of its Pythons, otherwise the next
  /// higher version that can be built, otherwise the next lower one. A version that is not a number is only
  /// replaced by the newest with its name and a number (pytorch by pytorch-2.15), or by its GPU variant.
  /// Either argument may be empty. Errors, field "runtime_version": kInvalidArgument in the original's words
  /// for a version that does not exist or does not come with that Python; kFailedPrecondition naming what is
  /// missing (policy none, or nothing can be built). Pure.
  [[nodiscard]] Result<Resolution> Resolve(std::string_view version, std::string_view python,
                                           FallbackPolicy policy, const AvailablePythons& available) const;

  /// The Pythons that a job may name with the version: its own, and those for which there is another version
  /// of its name (3.10 of 2.15 is 2.15-py310). Pure.
  [[nodiscard]] std::vector<std::string> PythonsOf(const RuntimeVersion& runtime) const;

  /// Whether programs can use GPUs in it, or in its GPU variant. True for the operator's own versions, since
  /// it is not known. Pure.
  [[nodiscard]] bool RunsOnGpus(std::string_view version) const;

  /// The resolution for the same job on machines with GPUs: the version's GPU variant if there is one and it
  /// can be built. Pure.
  [[nodiscard]] Resolution ForGpus(Resolution resolution, const AvailablePythons& available) const;

 private:
  std::vector<RuntimeVersion> versions_;
};

/// Why a version cannot be built here: "Python 3.7, which this machine does not have", "Python 3.5, for which
/// no tool of today installs packages"; empty if nothing does. Pure.
[[nodiscard]] std::string MissingFor(const RuntimeVersion& runtime, const AvailablePythons& available);

/// The command that installs a version's Python if it is missing: "trainyard runtimes install 2.4
/// --from-image python:3.7-slim". Empty for a version whose Pythons are all older than kPythonMin, and for
/// one that takes modules from the system's. Pure.
[[nodiscard]] std::string CommandFor(const RuntimeVersion& runtime);

/// Loads one version without reading all others, for replicas. kNotFound if there is none of that name.
[[nodiscard]] Result<RuntimeVersion> LoadRuntimeVersion(const std::filesystem::path& environments_dir,
                                                        std::string_view version);

/// The same for a tool (RuntimeVersion::tools): from runtimes.d, else a built-in one.
[[nodiscard]] Result<RuntimeVersion> LoadTool(const std::filesystem::path& environments_dir,
                                              std::string_view name);

}  // namespace trainyard::environment
