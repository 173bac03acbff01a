#pragma once

#include <string>
#include <vector>

#include "environment/tool_fence.h"
#include "sandbox/sandbox.h"

namespace trainyard::replica {

/// Runs what builds and installs packages in a sandbox: with a root of its own (build_root.h), without
/// capabilities, as an account that nobody else has where the server is root, and with everything that it
/// started ended when it ends. The machine's network stays, for the package index.
class BuildFence final : public environment::ToolFence {
 public:
  /// Tries once what this machine allows; a few ms. @param hidden  folders that tools must not see even where
  /// they are below a system folder: the data directory.
  [[nodiscard]] static BuildFence Find(std::vector<std::string> hidden);

  /// What is missing on this machine, for the log; empty: nothing.
  [[nodiscard]] std::string Lacks() const;
  [[nodiscard]] std::optional<Owner> owner() const override;
  [[nodiscard]] int Run(const environment::FencedTool& tool) const override;

 private:
  BuildFence(Fence fence, std::string reason, std::vector<std::string> hidden)
      : fence_(fence), reason_(std::move(reason)), hidden_(std::move(hidden)) {}

  Fence fence_;
  std::string reason_;  ///< why it is no better one
  std::vector<std::string> hidden_;
};

}  // namespace trainyard::replica
