#pragma once

#include <string>
#include <vector>

#include "process/tool_isolation.h"
#include "sandbox/sandbox.h"

namespace trainyard::replica {

/// Runs what builds and installs packages in a sandbox: with a root of its own (build_root.h), without
/// capabilities, as an account of its own where the server is root, and with everything that it
/// started ended when it ends. The machine's network stays, for the package index.
class BuildIsolation final : public ToolIsolation {
 public:
  /// Tries once what this machine allows; a few ms. @param hidden  directories that tools must not see even
  /// where they are below a system directory: the data directory.
  [[nodiscard]] static BuildIsolation Find(std::vector<std::string> hidden);

  /// What is missing on this machine, for the log; empty: nothing.
  [[nodiscard]] std::string Lacks() const;
  [[nodiscard]] std::optional<Owner> owner() const override;
  [[nodiscard]] int Run(const IsolatedTool& tool) const override;

 private:
  BuildIsolation(Isolation isolation, std::string reason, std::vector<std::string> hidden)
      : isolation_(isolation), reason_(std::move(reason)), hidden_(std::move(hidden)) {}

  Isolation isolation_;
  std::string reason_;  ///< why it is no better one
  std::vector<std::string> hidden_;
};

}  // namespace trainyard::replica
