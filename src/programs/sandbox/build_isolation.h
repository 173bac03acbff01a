#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/process/run_tool.h"
#include "programs/sandbox/required_isolation.h"

namespace trainyard::replica {

/// Runs tools that build and install packages in a sandbox: with a separate root directory (build_root.h),
/// without capabilities, under a separate account if the server is root. When a tool ends, all processes that
/// it started are ended. It can use the machine's network, for the package index.
class BuildIsolation final : public ToolIsolation {
 public:
  /// `required`: from FindIsolation for builds, or from an attempt's manifest. `hidden`: directories that
  /// tools must not see even if they are below a system directory, such as the data directory.
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
