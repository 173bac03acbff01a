#include "engine/slurm/slurm_tools.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include "base/async/unique_fd.h"
#include "base/process/variables.h"

namespace trainyard::engine {

namespace {

/// Variables with these prefixes are options of Slurm's programs; those of the first also describe the
/// current job.
constexpr std::array<std::string_view, 6> kOptionPrefixes{"SLURM_",   "SBATCH_", "SQUEUE_",
                                                          "SCANCEL_", "SINFO_",  "SRUN_"};
/// The variables that say which cluster to use.
constexpr std::array<std::string_view, 2> kWhere{"SLURM_CONF", "SLURM_CONF_SERVER"};

bool IsOption(std::string_view name) {
  return std::ranges::any_of(kOptionPrefixes, [name](auto prefix) { return name.starts_with(prefix); }) &&
         std::ranges::find(kWhere, name) == kWhere.end();
}

Result<UniqueFd> OpenMemory() {
  UniqueFd memory(::memfd_create("trainyard-slurm", MFD_CLOEXEC));
  if (!memory) return std::unexpected(ErrnoError(errno, "memfd_create"));
  return memory;
}

Status Fill(int memory, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(memory, bytes.data(), bytes.size());
    if (written < 0) return std::unexpected(ErrnoError(errno, "write"));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::lseek(memory, 0, SEEK_SET) != 0) return std::unexpected(ErrnoError(errno, "lseek"));
  return {};
}

Result<std::string> ReadAll(int memory) {
  const off_t size = ::lseek(memory, 0, SEEK_END);
  std::string bytes(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::pread(memory, &bytes[filled], bytes.size() - filled, static_cast<off_t>(filled));
    if (got < 0) return std::unexpected(ErrnoError(errno, "read"));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

std::vector<std::string> VariablesForTools(const std::map<std::string, std::string>& own) {
  VariableChanges kept;
  for (const auto& [name, value] : own)
    if (!IsOption(name)) kept.emplace(name, value);
  kept["TZ"] = "UTC";
  return PrintVariables(kept);
}

Result<ToolAnswer> RunSlurmTool(slurm::Command command, std::string_view input,
                                const SlurmToolOptions& options) {
  TY_TRY(const UniqueFd in, OpenMemory());
  TY_TRY(const UniqueFd out, OpenMemory());
  TY_TRY(const UniqueFd err, OpenMemory());
  TY_RETURN_IF_ERROR(Fill(in.get(), input));
  const std::string name = command.front();
  if (!options.folder.empty()) command.front() = options.folder + "/" + name;
  TY_TRY(ChildProcess tool,
         ChildProcess::Spawn({.argv = std::move(command),
                              .environment = VariablesForTools(ReadVariables()),
                              .directory = "/",
                              .descriptors = {{in.get(), 0}, {out.get(), 1}, {err.get(), 2}},
                              .group = ProcessGroup::kNew,
                              .action = "start Slurm's " + name}));
  ToolAnswer answer;
  TY_TRY(answer.status, tool.WaitFor(options.wait_max));
  TY_TRY(answer.printed, ReadAll(out.get()));
  TY_TRY(answer.said, ReadAll(err.get()));
  return answer;
}

namespace {

/// Runs a tool and returns what it printed.
SlurmAnswer<std::string> Ask(slurm::Command command, std::string_view input,
                             const SlurmToolOptions& options) {
  const Result<ToolAnswer> answer = RunSlurmTool(std::move(command), input, options);
  if (!answer && answer.error().code == Code::kNotFound)
    return std::unexpected(SlurmRefusal{
        slurm::Failure::kMistake,
        answer.error().message + ": install slurm-client, or name its folder with --slurm-tools"});
  if (!answer) return std::unexpected(SlurmRefusal{slurm::Failure::kNoAnswer, answer.error().message});
  if (!answer->succeeded())
    return std::unexpected(SlurmRefusal{slurm::FailureOf(answer->said), slurm::WordsOf(answer->said)});
  return answer->printed;
}

}  // namespace

SlurmAnswer<std::int64_t> SlurmTools::Submit(const slurm::BatchJob& batch,
                                             const slurm::GangRequest& request) const {
  const SlurmAnswer<std::string> printed =
      Ask(slurm::SubmitCommand(), slurm::BatchScript(batch, request), options_);
  if (!printed) return std::unexpected(printed.error());
  const std::int64_t id = slurm::ParseSubmitted(*printed);
  if (id < 0) return std::unexpected(SlurmRefusal{slurm::Failure::kNoAnswer, "sbatch printed no id"});
  return id;
}

SlurmAnswer<std::vector<slurm::ListedJob>> SlurmTools::List(std::optional<std::int64_t> id) const {
  const SlurmAnswer<std::string> printed =
      Ask(id ? slurm::ListOneCommand(*id) : slurm::ListCommand(std::to_string(::getuid())), {}, options_);
  if (!printed && id && printed.error().failure == slurm::Failure::kGone)
    return std::vector<slurm::ListedJob>();
  if (!printed) return std::unexpected(printed.error());
  SlurmAnswer<std::vector<slurm::ListedJob>> jobs = Understood(slurm::ParseJobList(*printed));
  const SysTime now = std::chrono::time_point_cast<SysTime::duration>(std::chrono::system_clock::now());
  if (jobs &&
      std::ranges::any_of(*jobs, [now](const auto& job) { return MayBeCancelledBySlurm(job, now); })) {
    const SlurmAnswer<std::string> config = Ask(slurm::ConfigCommand(), {}, options_);
    if (!config) return std::unexpected(config.error());
    if (const auto start = slurm::ParseControllerStart(*config)) MarkForgotten(*jobs, *start);
  }
  return jobs;
}

SlurmAnswer<void> SlurmTools::Cancel(const std::string& name, std::span<const std::int64_t> ids) const {
  const SlurmAnswer<std::string> printed = Ask(slurm::CancelCommand(name, ids), {}, options_);
  if (!printed) return std::unexpected(printed.error());
  return {};
}

SlurmAnswer<void> SlurmTools::Check(const slurm::Options& options) const {
  const SlurmAnswer<std::string> printed = Ask(slurm::TestCommand(), slurm::TestScript(options), options_);
  if (!printed && printed.error().failure == slurm::Failure::kMistake)
    return std::unexpected(printed.error());
  return {};
}

SlurmAnswer<std::vector<slurm::Node>> SlurmTools::Nodes() const {
  const SlurmAnswer<std::string> printed = Ask(slurm::NodesCommand(), {}, options_);
  if (!printed) return std::unexpected(printed.error());
  return Understood(slurm::ParseNodeList(*printed));
}

}  // namespace trainyard::engine
