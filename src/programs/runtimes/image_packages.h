#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/process/run_tool.h"
#include "base/result.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/environment/tool_output.h"
#include "programs/runtimes/program_source.h"
#include "programs/sandbox/namespaces/file_view.h"

/// Installs a job's packages into an image, with the image's own Python, in a container whose files are kept
/// as a layer on the image (docs/adr/0017-containers-by-an-engine.md). This is the part that all ways of
/// running containers share.
namespace trainyard::replica {

/// Whether the manifest's program is a Python module with packages in an image.
[[nodiscard]] bool HasImagePackages(const v1::Manifest& manifest);

/// 40 hexadecimal digits: the same for the same image and packages. Pure.
[[nodiscard]] std::string PackageLayerName(const v1::Manifest& manifest);

/// The container that installs the packages.
struct PackageInstallation {
  std::vector<std::string> argv;
  std::vector<FileView::Bind> binds;
};

/// Downloads the packages into a directory of the attempt, and writes next to them this machine's settings
/// for pip: its index, proxies and authorities. None of these files get into the layer. Errors: those of the
/// downloads.
[[nodiscard]] Result<PackageInstallation> StagePackages(const v1::Manifest& manifest,
                                                        const PreparationHooks& hooks);

/// Why the installation failed, in one sentence: pip's own words, or that the image has no Python or no pip.
[[nodiscard]] Error PackageFailure(const v1::Manifest& manifest, const ToolEnd& end);

/// The error if the container's Python could not be started.
[[nodiscard]] Error NoPythonFailure(const v1::Manifest& manifest, std::string_view reason);

/// The directory of an OCI runtime's layer, once it is complete. A file next to it, with ".lock" appended, is
/// locked while the layer is built, by any way of running containers.
[[nodiscard]] std::string PackageLayerFolder(const v1::Manifest& manifest);

/// Records next to that directory which image the layer belongs to: both are removed together
/// (programs/image/collect.h). Call it before the layer exists, and while an ImageUse of the image is held.
[[nodiscard]] Status NotePackageImage(const v1::Manifest& manifest);

/// Splits the container's output into lines for a ToolOutput, and keeps the last ones as the reason of a
/// failure. One thread.
class InstallationLines {
 public:
  /// The hooks outlive it. @param folder  PackageLayerFolder.
  InstallationLines(const PreparationHooks& hooks, const std::string& folder)
      : kept_(folder, hooks, "Installing packages") {}
  void Take(bool is_error, std::string_view bytes);
  /// Ends the output and returns the last lines of both streams, at most kToolTailMax.
  [[nodiscard]] std::vector<std::string> End(bool ok);

 private:
  void Finish(bool is_error);

  environment::ToolOutput kept_;
  std::string output_;
  std::string error_;
  std::vector<std::string> tail_;
};

/// The command that the container runs: the module with its packages, or the command of image and job
/// (container::ProgramOf).
[[nodiscard]] Result<std::vector<std::string>> ContainerCommand(const v1::Manifest& manifest,
                                                                const container::ImageConfig& image);

}  // namespace trainyard::replica
