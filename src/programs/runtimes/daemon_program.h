#pragma once

#include "programs/runtimes/daemon_api_request.h"
#include "programs/runtimes/program.h"

namespace trainyard::replica {

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
