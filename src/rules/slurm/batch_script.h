#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "rules/placement/agent_boot.h"
#include "rules/slurm/component.h"
#include "rules/slurm/job_name.h"

/// The script of a Slurm job: one step that runs an agent per slot. Pure: any thread. docs/slurm.md, "What is
/// submitted".
namespace trainyard::slurm {

/// Slurm sends its signal this long before the job's time limit: enough time to stop replicas and to hand
/// over.
inline constexpr std::chrono::seconds kEndNotice{120};
/// The signal goes to all processes of the step, including the users' programs: a signal that is not ignored
/// by default would end them. In the agent it is agent::kNoticeSignal.
inline constexpr std::string_view kEndSignal = "URG";

/// How a node's shell finds the agent's program, and the agent's parameters.
struct Boot {
  placement::AgentSource source;
  std::string program_path;  ///< the path on the server's machine: nodes may have the file, too
  std::string ticket;        ///< letters and digits: valid once for each slot
  std::string node_dir{};  ///< the node's directory for programs and attempts; empty: /var/tmp/trainyard-UID
};

struct Times {
  std::optional<std::chrono::minutes> limit{};  ///< nullopt: the partition's
  /// Slurm gives up if the job cannot end before this; nullopt: never. Whole seconds.
  std::optional<SysTime> deadline{};  ///< printed in UTC: sbatch has to be run with TZ=UTC
};

struct BatchJob {
  std::string installation;
  Submission submission;
  int nice = 0;
  Times times{};
  Boot boot{};
};

/// The script for `sbatch` on its standard input. `request.lack` must be empty.
[[nodiscard]] std::string BatchScript(const BatchJob& batch, const GangRequest& request);
/// BatchScript without the #SBATCH lines, for callers that pass these options in another way.
[[nodiscard]] std::string JobScript(const BatchJob& batch, const GangRequest& request);
/// A job that does nothing, with these options: for `sbatch --test-only`, not to run.
[[nodiscard]] std::string TestScript(const Options& options);

/// The script of each slot, for `bash -c`: it finds or downloads the agent's program, checks its digest and
/// execs it.
[[nodiscard]] std::string BootScript(const Boot& boot);

/// The value of --mem-per-cpu in MiB; 0: the option is left out.
[[nodiscard]] std::int64_t MemoryPerCpu(const Component& component);
/// The value of --gpus-per-task, "a100:2" or "2"; empty: none.
[[nodiscard]] std::string GpusPerTask(const Component& component);

/// The value of --nice for a job's priority in the API (0 to 1000, high first).
[[nodiscard]] int NiceOf(int priority, int nice_of_lowest);

}  // namespace trainyard::slurm
