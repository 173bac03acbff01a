#pragma once

#include <optional>
#include <variant>

#include "programs/environment/build_lock.h"
#include "programs/environment/environment.h"
#include "programs/image/image.h"
#include "programs/image/image_use.h"
#include "programs/runtimes/daemon_api_request.h"
#include "rules/container/program.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// The container of our pod that has the job's image: nothing is left to prepare there.
struct PodImage {
  container::ImageConfig config;  ///< without what the container's processes have from it already
};

/// The environment of a program: the Python of a runtime version with the job's packages, an image in our
/// cache, one in a container daemon's store, or a container of our pod.
using Prepared = std::variant<environment::Environment, image::Image, DaemonImage, PodImage>;

/// Functions with which a preparation logs and gets packages.
using PreparationHooks = environment::PreparationHooks;

/// Finds and prepares what programs run in. One per supervisor; one thread.
class ProgramSource {
 public:
  ProgramSource() = default;
  ProgramSource(const ProgramSource&) = delete;
  ProgramSource& operator=(const ProgramSource&) = delete;
  virtual ~ProgramSource() = default;

  /// Returns what the manifest's program needs, if all of it exists here: takes a few system calls, and at
  /// most a second while its image is being removed. It is not removed for as long as the source lives.
  [[nodiscard]] virtual std::optional<Prepared> Find(const v1::Manifest& manifest) = 0;
  /// Prepares what is missing, so that Find succeeds. Runs in a separate process, which may be killed at any
  /// point. Blocks for as long as downloads take.
  [[nodiscard]] virtual Status Prepare(const v1::Manifest& manifest, const PreparationHooks& hooks) = 0;
};

/// The runtime versions and images of this installation.
class InstalledPrograms : public ProgramSource {
 public:
  [[nodiscard]] std::optional<Prepared> Find(const v1::Manifest& manifest) override;
  [[nodiscard]] Status Prepare(const v1::Manifest& manifest, const PreparationHooks& hooks) override;

 private:
  [[nodiscard]] std::optional<Prepared> FindImage(const v1::Manifest& manifest);

  std::optional<environment::RuntimeUse> runtime_use_;
  std::optional<environment::LayerUse> layer_use_;
  std::optional<image::ImageUse> image_use_;
};

/// What the tools printed that built the program's environment on this machine, each build under a title.
/// Empty: nothing was installed for it here. Of the manifest it uses the program and the places. Blocks.
[[nodiscard]] std::string PreparationOutput(const v1::Manifest& manifest);

}  // namespace trainyard::replica
