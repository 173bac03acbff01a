#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "programs/runtimes/program.h"
#include "rules/container/program.h"

namespace trainyard::replica {

/// A directory of the attempt that the pod's other container sees under the same path. The manifest's
/// container is a POD_CONTAINER.
[[nodiscard]] std::string PodSharedFolder(const v1::Manifest& manifest);

/// The job's image as another container of our pod (pod_container.h). The sandbox contains a process that
/// follows the program there; the node isolates and bounds the container.
class PodProgram final : public Program {
 public:
  /// The manifest outlives it. kFailedPrecondition: the image and the job name nothing to run.
  [[nodiscard]] static Result<std::unique_ptr<Program>> Make(const v1::Manifest& manifest,
                                                             const container::ImageConfig& image);

  [[nodiscard]] std::vector<std::string> Shown() const override { return argv_; }
  [[nodiscard]] std::vector<std::string> Announcement() const override;
  [[nodiscard]] bool is_elsewhere() const override { return true; }
  [[nodiscard]] Result<SandboxPlan> Plan(const ProgramStart& start, Isolation isolation) override;
  [[nodiscard]] std::vector<std::string> Lacks(const ProgramStart& start, Isolation isolation) const override;
  void OnEnded(const ProgramStart& start, ObservedEnd& end) const override;
  void CleanUp(const ProgramStart& start) const override;

 private:
  PodProgram(const v1::Manifest& manifest, std::vector<std::string> argv, int stop_signal)
      : manifest_(manifest), argv_(std::move(argv)), stop_signal_(stop_signal) {}

  const v1::Manifest& manifest_;
  std::vector<std::string> argv_;
  int stop_signal_;
};

}  // namespace trainyard::replica
