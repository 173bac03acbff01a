#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process/child_process.h"
#include "base/result.h"
#include "engine/slurm/slurm_client.h"
#include "rules/slurm/commands.h"

namespace trainyard::engine {

/// What a tool of Slurm printed, and how it ended.
struct ToolAnswer {
  ExitStatus status;
  std::string printed;  ///< on its standard output
  std::string said;     ///< on its standard error
  [[nodiscard]] bool succeeded() const noexcept { return status == ExitStatus{}; }
};

/// The server's variables as Slurm's tools get them: without those that the tools take for options, which are
/// there when the server itself runs in a job of Slurm, and with times in UTC. Pure.
[[nodiscard]] std::vector<std::string> VariablesForTools(const std::map<std::string, std::string>& own);

/// How Slurm's tools are run.
struct SlurmToolOptions {
  std::string folder{};  ///< where the tools are; empty: in PATH
  /// Slurm gives up after some 10 s by itself; then a tool is killed, and what it did is not known.
  std::chrono::milliseconds wait_max{20'000};
};

/// Runs one tool. Blocks; any thread. `input` is what the tool reads. kDeadlineExceeded: it did not end;
/// kNotFound: there is no such tool. A tool that fails is no error here.
[[nodiscard]] Result<ToolAnswer> RunSlurmTool(slurm::Command command, std::string_view input,
                                              const SlurmToolOptions& options);

/// Slurm by its command line: sbatch, squeue, scancel, sinfo.
class SlurmTools final : public SlurmClient {
 public:
  explicit SlurmTools(SlurmToolOptions options) : options_(std::move(options)) {}

  [[nodiscard]] SlurmAnswer<std::int64_t> Submit(const slurm::BatchJob& batch,
                                                 const slurm::GangRequest& request) const override;
  [[nodiscard]] SlurmAnswer<std::vector<slurm::ListedJob>> List(
      std::optional<std::int64_t> id) const override;
  [[nodiscard]] SlurmAnswer<void> Cancel(const std::string& name,
                                         std::span<const std::int64_t> ids) const override;
  [[nodiscard]] SlurmAnswer<void> Check(const slurm::Options& options) const override;
  [[nodiscard]] SlurmAnswer<std::vector<slurm::Node>> Nodes() const override;

 private:
  SlurmToolOptions options_;
};

}  // namespace trainyard::engine
