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

/// The output and exit status of a Slurm tool.
struct ToolAnswer {
  ExitStatus status;
  std::string printed;  ///< on its standard output
  std::string said;     ///< on its standard error
  [[nodiscard]] bool succeeded() const noexcept { return status == ExitStatus{}; }
};

/// The environment variables for Slurm's tools: the server's, without those that the tools treat as options
/// (they are set when the server itself runs in a Slurm job), and with UTC as the time zone. Pure.
[[nodiscard]] std::vector<std::string> VariablesForTools(const std::map<std::string, std::string>& own);

/// How Slurm's tools are run.
struct SlurmToolOptions {
  std::string folder{};  ///< the tools' directory; empty: PATH is searched
  /// Slurm's tools give up after some 10 s by themselves. A tool that runs longer than this is killed, and
  /// what it did is not known.
  std::chrono::milliseconds wait_max{20'000};
};

/// Runs one tool. Blocks; any thread. `input` is its standard input. kDeadlineExceeded: it did not end;
/// kNotFound: there is no such tool. If the tool fails, its status says so; that is no error here.
[[nodiscard]] Result<ToolAnswer> RunSlurmTool(slurm::Command command, std::string_view input,
                                              const SlurmToolOptions& options);

/// Uses Slurm's command-line tools: sbatch, squeue, scancel, sinfo.
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
