#pragma once

#include "programs/runtimes/program.h"

namespace trainyard::replica {

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

}  // namespace trainyard::replica
