#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "programs/environment/environment.h"
#include "programs/environment/runtime_version.h"

namespace trainyard::environment {

/// Where things lie below the environments directory. Pure: names only.
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

  /// Present in a runtime or layer once all of it is there; its contents are the Python's version ("3.11").
  [[nodiscard]] static std::filesystem::path Marker(const std::filesystem::path& folder) {
    return folder / "trainyard-complete";
  }
  /// Held while a runtime or layer is built. Beside it: what is inside gets removed.
  [[nodiscard]] static std::filesystem::path Lock(const std::filesystem::path& folder) {
    return folder.string() + ".lock";
  }
  /// Held, shared, by whoever runs programs in a runtime; its time of change is that of the last start.
  [[nodiscard]] static std::filesystem::path UseLock(const std::filesystem::path& folder) {
    return folder.string() + ".use";
  }
  /// How large the folder is, and of which build (build_folder.h).
  [[nodiscard]] static std::filesystem::path SizeNote(const std::filesystem::path& folder) {
    return folder.string() + ".size";
  }
  /// In a layer: the name of the runtime's folder.
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
