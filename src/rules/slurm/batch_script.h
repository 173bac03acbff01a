#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "rules/slurm/component.h"
#include "rules/slurm/job_name.h"

/// The script of a job of Slurm: one step that runs an agent per slot. Pure: any thread. docs/slurm.md, "What
/// is submitted".
namespace trainyard::slurm {

/// Slurm's signal comes so long before the job's time limit: time to stop replicas and to hand over.
inline constexpr std::chrono::seconds kEndNotice{120};
/// It goes to all processes of the step, the programs of users among them: any that is not ignored by default
/// would end those. The agent knows it as agent::kNoticeSignal.
inline constexpr std::string_view kEndSignal = "URG";

/// How a node's shell finds the agent's program, and what the agent is told.
struct Boot {
  std::string server_host;  ///< numeric: nodes may have no names
  int server_port = 0;
  std::string certificate_sha256;  ///< of the server's, in hexadecimal
  std::string program_sha256;      ///< in hexadecimal
  std::string program_path;        ///< the server's own: nodes may see it, too
  std::string ticket;              ///< letters and digits: valid once for each slot
  std::string node_dir{};  ///< where a node keeps programs and attempts; empty: /var/tmp/trainyard-UID
};

struct Times {
  std::optional<std::chrono::minutes> limit{};  ///< nothing: the partition's
  /// Slurm gives up when it cannot end before; nothing: never. Whole seconds count.
  std::optional<SysTime> deadline{};  ///< printed in UTC: sbatch has to be run with TZ=UTC
};

struct BatchJob {
  std::string installation;
  Submission submission;
  int nice = 0;
  Times times{};
  Boot boot{};
};

/// For `sbatch` on its standard input. The request has no lack.
[[nodiscard]] std::string BatchScript(const BatchJob& batch, const GangRequest& request);
/// The same without the lines for sbatch, for whoever says otherwise what they say.
[[nodiscard]] std::string JobScript(const BatchJob& batch, const GangRequest& request);
/// A job that does nothing, with these options: to be tried, and not to be run.
[[nodiscard]] std::string TestScript(const Options& options);

/// What runs in each slot, for `bash -c`: it finds or fetches the agent's program, checks its digest and
/// becomes it.
[[nodiscard]] std::string BootScript(const Boot& boot);

/// --mem-per-cpu in MiB; 0: it is not said.
[[nodiscard]] std::int64_t MemoryPerCpu(const Component& component);
/// --gpus-per-task, "a100:2" or "2"; empty: none.
[[nodiscard]] std::string GpusPerTask(const Component& component);

/// --nice for a priority of the original (0 to 1000, high first).
[[nodiscard]] int NiceOf(int priority, int nice_of_lowest);

}  // namespace trainyard::slurm
