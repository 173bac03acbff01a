#pragma once

#include "programs/runtimes/program.h"

namespace trainyard::replica {

/// `python3 -m MODULE ARGS` in the Python of a runtime version, in the machine's own files.
class ModuleProgram final : public Program {
 public:
  /// The manifest outlives it.
  ModuleProgram(const v1::Manifest& manifest, environment::Environment environment)
      : manifest_(manifest), environment_(std::move(environment)) {}

  [[nodiscard]] std::vector<std::string> Shown() const override;
  [[nodiscard]] std::vector<std::string> Announcement() const override;
  [[nodiscard]] Result<SandboxPlan> Plan(const ProgramStart& start, Isolation isolation) override;
  [[nodiscard]] std::vector<std::string> Lacks(const ProgramStart& start, Isolation isolation) const override;

 private:
  const v1::Manifest& manifest_;
  environment::Environment environment_;
};

}  // namespace trainyard::replica
