#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rules/slurm/engine_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace trainyard::server {

/// The flags about the cluster and their texts. Lifetime: from AddTo to the App's parse, then ReadInto.
class EngineFlags {
 public:
  void AddTo(CLI::App& app);
  /// Converts the texts. An error's field is the flag.
  [[nodiscard]] Status ReadInto(slurm::EngineOptions& options) const;

 private:
  slurm::EngineOptions given_;
  std::string agent_listen_;
  std::vector<std::string> machine_types_;
  std::vector<std::string> accelerators_;
  std::vector<std::string> regions_;
};

/// "n1-standard-8=cpus:4,memory:16G,partition:gpu": adds the rule. kInvalidArgument with the reason. Pure.
[[nodiscard]] Status ReadSlurmMachine(const std::string& text, slurm::SlurmSettings& settings);

}  // namespace trainyard::server
