#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/image/image.h"
#include "programs/runtimes/daemon_api_request.h"
#include "programs/runtimes/google_channels.h"
#include "programs/runtimes/program.h"
#include "rules/container/user.h"

namespace trainyard::replica {

// The view that a container has of the replica, whichever runtime runs it.

/// Variables as "NAME=value": the image's ENV, then those of every replica. `home`: used unless the image's
/// ENV sets HOME. `devices`: their variables are for the accelerators' driver. Pure, except that it counts
/// the CPUs.
[[nodiscard]] std::vector<std::string> ContainerVariables(const ProgramStart& start,
                                                          const container::ImageConfig& image,
                                                          const std::string& home, const Channels& channels,
                                                          const DeviceFiles& devices);

/// The channels that a container has: it needs no /gcs directory on the machine.
[[nodiscard]] Channels ContainerChannels(const v1::Manifest& manifest);

/// The binds for host names, the resolver's settings, and the channels. `image_has`: whether the image has a
/// file; if it has no CA bundle in any of the usual places, the first place is added. Writes the tools that
/// come with /gcs.
[[nodiscard]] Result<std::vector<FileView::Bind>> ContainerBinds(
    const ProgramStart& start, const Channels& channels,
    const std::function<bool(const std::string& path)>& image_has);

/// A container that an OCI runtime runs, as a child of the supervisor (oci_container.h).
class ContainerProgram final : public Program {
 public:
  /// The manifest outlives it. kFailedPrecondition: the image and the job name nothing to run.
  [[nodiscard]] static Result<std::unique_ptr<Program>> Make(const v1::Manifest& manifest,
                                                             image::Image image);

  [[nodiscard]] std::vector<std::string> Shown() const override { return argv_; }
  [[nodiscard]] std::vector<std::string> Announcement() const override;
  [[nodiscard]] Isolation WeakestIsolation() const override { return Isolation::kUserNamespaces; }
  [[nodiscard]] Result<SandboxPlan> Plan(const ProgramStart& start, Isolation isolation) override;
  [[nodiscard]] std::vector<std::string> Lacks(const ProgramStart& start, Isolation isolation) const override;
  void OnEnded(const ProgramStart& start, ObservedEnd& end) const override;
  void CleanUp(const ProgramStart& start) const override;

 private:
  ContainerProgram(const v1::Manifest& manifest, image::Image image, std::vector<std::string> argv)
      : manifest_(manifest), image_(std::move(image)), argv_(std::move(argv)) {}

  const v1::Manifest& manifest_;
  image::Image image_;
  std::vector<std::string> argv_;
};

/// A container that a container daemon (Docker, podman) runs, over its API. The sandbox contains a process
/// that controls it (RunContainer); the daemon isolates the container itself.
class DaemonProgram final : public Program {
 public:
  /// The manifest outlives it. kFailedPrecondition: the image and the job name nothing to run.
  [[nodiscard]] static Result<std::unique_ptr<Program>> Make(const v1::Manifest& manifest, DaemonImage image);

  [[nodiscard]] std::vector<std::string> Shown() const override { return argv_; }
  [[nodiscard]] std::vector<std::string> Announcement() const override;
  [[nodiscard]] Result<SandboxPlan> Plan(const ProgramStart& start, Isolation isolation) override;
  [[nodiscard]] std::vector<std::string> Lacks(const ProgramStart& start, Isolation isolation) const override;
  void OnEnded(const ProgramStart& start, ObservedEnd& end) const override;
  void GiveUp(const ProgramStart& start) const override;

 private:
  DaemonProgram(const v1::Manifest& manifest, DaemonImage image, std::vector<std::string> argv)
      : manifest_(manifest), image_(std::move(image)), argv_(std::move(argv)) {}

  const v1::Manifest& manifest_;
  DaemonImage image_;
  std::vector<std::string> argv_;
};

}  // namespace trainyard::replica
