#pragma once

#include <optional>
#include <variant>

#include "programs/environment/environment.h"
#include "programs/environment/layer_use.h"
#include "programs/image/image.h"
#include "programs/image/image_use.h"
#include "programs/runtimes/daemon_api_request.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// What a program runs in: the Python of a runtime version with the job's packages, an image of ours, or one
/// of a container daemon's.
using Prepared = std::variant<environment::Environment, image::Image, DaemonImage>;

/// What a preparation says, and how it reaches packages.
using PreparationHooks = environment::PreparationHooks;

/// Where it comes from. One per supervisor; one thread.
class ProgramSource {
 public:
  ProgramSource() = default;
  ProgramSource(const ProgramSource&) = delete;
  ProgramSource& operator=(const ProgramSource&) = delete;
  virtual ~ProgramSource() = default;

  /// What there is for the manifest's program, if all of it is here: a few system calls, and at most a second
  /// while its image is being removed. It stays as it is for as long as the source lives.
  [[nodiscard]] virtual std::optional<Prepared> Find(const v1::Manifest& manifest) = 0;
  /// Makes Find succeed. Runs in a process of its own, which may be killed at any point. Blocks for as long
  /// as downloads take.
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

}  // namespace trainyard::replica
