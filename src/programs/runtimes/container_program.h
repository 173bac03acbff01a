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
#include "programs/runtimes/user_environment.h"
#include "rules/container/user.h"

namespace trainyard::replica {

// What a container sees of the replica, whoever runs it.

/// "NAME=value": the image's ENV, then what every replica gets. `home`: unless the image's ENV has one.
/// `devices`: what the accelerators' driver wants. Pure but for the count of CPUs.
[[nodiscard]] std::vector<std::string> ContainerVariables(const ProgramStart& start,
                                                          const container::ImageConfig& image,
                                                          const std::string& home, const Channels& channels,
                                                          const std::vector<std::string>& devices);

/// The channels that a container has: /gcs needs no directory of the machine's.
[[nodiscard]] Channels ContainerChannels(const v1::Manifest& manifest);

/// The host names, the resolver's settings, and what the channels need. `image_has`: whether the image has a
/// file; where it has none of the places of a CA bundle it gets the first. Writes the tools that go with
/// /gcs.
[[nodiscard]] Result<std::vector<FileView::Bind>> ContainerBinds(
    const ProgramStart& start, const Channels& channels,
    const std::function<bool(const std::string& path)>& image_has);

/// A container by an OCI runtime, below the supervisor (oci_container.h).
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

/// A container that a container daemon (Docker, podman) runs, over its API. In the sandbox is a process that
/// follows it (RunContainer); the isolation is the daemon's own.
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
