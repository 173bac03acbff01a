#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/process/run_tool.h"
#include "base/result.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/program_source.h"
#include "programs/sandbox/namespaces/file_view.h"

/// A job's packages in an image: what is installed by the image's own Python, in a container of the image
/// whose files are kept as a layer on it (docs/adr/0017-containers-by-an-engine.md). What is the same for all
/// ways of running one.
namespace trainyard::replica {

/// Whether the manifest's program is a Python module with packages in an image.
[[nodiscard]] bool HasImagePackages(const v1::Manifest& manifest);

/// 40 hexadecimal digits: the same for the same image and packages. Pure.
[[nodiscard]] std::string PackageLayerName(const v1::Manifest& manifest);

/// What the container that installs them is.
struct PackageInstallation {
  std::vector<std::string> argv;
  std::vector<FileView::Bind> binds;
};

/// Downloads the packages into a directory of the attempt's and writes beside them what pip is told on this
/// machine: its index, proxies and authorities. Nothing of that gets into the layer. Errors: those of the
/// downloads.
[[nodiscard]] Result<PackageInstallation> StagePackages(const v1::Manifest& manifest,
                                                        const PreparationHooks& hooks);

/// Why the installation failed, in one sentence: pip's own words, or that the image has no Python or no pip.
[[nodiscard]] Error PackageFailure(const v1::Manifest& manifest, const ToolEnd& end);

/// The container's Python could not be started.
[[nodiscard]] Error NoPythonFailure(const v1::Manifest& manifest, std::string_view reason);

/// Where an OCI runtime's layer is, once it is complete. Beside it, with ".lock" behind its name: held while
/// it is built, whatever the way.
[[nodiscard]] std::string PackageLayerFolder(const v1::Manifest& manifest);

/// Says beside that directory which image the layer is on: both are removed together
/// (programs/image/collect.h). Before the layer is there, and while an ImageUse of the image is held.
[[nodiscard]] Status NotePackageImage(const v1::Manifest& manifest);

/// What the container's output becomes: lines for the log, and the last of them for a failure's reason. One
/// thread.
class InstallationLines {
 public:
  /// The hooks outlive it.
  explicit InstallationLines(const PreparationHooks& hooks) : hooks_(hooks) {}
  void Take(bool is_error, std::string_view bytes);
  /// The last lines of both, at most kToolTailMax.
  [[nodiscard]] std::vector<std::string> End();

 private:
  void Finish(bool is_error);

  const PreparationHooks& hooks_;
  std::string output_;
  std::string error_;
  std::vector<std::string> tail_;
};

/// What the container runs: the module with its packages, or what the image and the job say
/// (container::ProgramOf).
[[nodiscard]] Result<std::vector<std::string>> ContainerCommand(const v1::Manifest& manifest,
                                                                const container::ImageConfig& image);

}  // namespace trainyard::replica
