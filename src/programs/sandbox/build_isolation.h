#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/process/run_tool.h"
#include "programs/sandbox/required_isolation.h"

namespace trainyard::replica {

/// Runs what builds and installs packages in a sandbox: with a root of its own (build_root.h), without
/// capabilities, as an account of its own where the server is root, and with everything that it
/// started ended when it ends. The machine's network stays, for the package index.
class BuildIsolation final : public ToolIsolation {
 public:
  /// `required`: as FindIsolation found it for builds, or an attempt's manifest has it. `hidden`:
  /// directories that tools must not see even where they are below a system directory: the data directory.
  BuildIsolation(RequiredIsolation required, std::vector<std::string> hidden)
      : required_(std::move(required)), hidden_(std::move(hidden)) {}

  /// What is missing on this machine, for the log; empty: nothing.
  [[nodiscard]] std::string Lacks() const;
  [[nodiscard]] std::optional<Owner> owner() const override;
  [[nodiscard]] int Run(const IsolatedTool& tool) const override;

 private:
  RequiredIsolation required_;
  std::vector<std::string> hidden_;
};

}  // namespace trainyard::replica
