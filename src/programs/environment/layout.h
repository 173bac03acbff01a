#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "programs/environment/environment.h"
#include "programs/environment/runtime_version.h"

namespace trainyard::environment {

/// The paths below the environments directory. Pure: only computes names.
struct Layout {
  std::filesystem::path root;

  [[nodiscard]] std::filesystem::path Runtime(const RuntimeVersion& runtime) const {
    return root / (runtime.kind == RuntimeVersion::Kind::kTool ? "tools" : "runtimes") /
           RuntimeFolder(runtime);
  }
  [[nodiscard]] std::filesystem::path Layer(const RuntimeVersion& runtime,
                                            const std::vector<EnvironmentRequest::Package>& packages) const;
  [[nodiscard]] std::filesystem::path Site() const { return root / "site"; }
  [[nodiscard]] std::filesystem::path Tools() const { return root / "tools"; }
  [[nodiscard]] std::filesystem::path Cache() const { return root / "cache"; }
  [[nodiscard]] std::filesystem::path Pythons() const { return root / "pythons"; }

  /// A file that exists in a runtime or layer once it is complete; it contains the Python's version ("3.11").
  [[nodiscard]] static std::filesystem::path Marker(const std::filesystem::path& folder) {
    return folder / "trainyard-complete";
  }
  /// Locked while a runtime or layer is built. The file is next to the directory, whose contents may be
  /// removed.
  [[nodiscard]] static std::filesystem::path Lock(const std::filesystem::path& folder) {
    return folder.string() + ".lock";
  }
  /// Locked, shared, by processes that run programs in a runtime; its modification time is that of the last
  /// start.
  [[nodiscard]] static std::filesystem::path UseLock(const std::filesystem::path& folder) {
    return folder.string() + ".use";
  }
  /// Records the directory's size, and of which build it is (build_folder.h).
  [[nodiscard]] static std::filesystem::path SizeNote(const std::filesystem::path& folder) {
    return folder.string() + ".size";
  }
  /// The file with the output of the last build's tools (tool_output.h).
  [[nodiscard]] static std::filesystem::path Output(const std::filesystem::path& folder) {
    return folder.string() + ".log";
  }
  /// A file in a layer that contains the name of the runtime's directory.
  [[nodiscard]] static std::filesystem::path LayerBase(const std::filesystem::path& layer) {
    return layer / "trainyard-runtime";
  }
  [[nodiscard]] static std::filesystem::path Interpreter(const std::filesystem::path& folder) {
    return folder / "bin" / "python";
  }
  [[nodiscard]] static std::filesystem::path SitePackages(const std::filesystem::path& folder,
                                                          std::string_view python_version) {
    return folder / "lib" / ("python" + std::string(python_version)) / "site-packages";
  }
};

}  // namespace trainyard::environment
