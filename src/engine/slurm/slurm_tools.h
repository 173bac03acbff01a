#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/child_process.h"
#include "slurm/commands.h"
#include "slurm/gangs.h"

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

/// Runs one tool. Blocks; any thread. Errors as SlurmTools::Run.
[[nodiscard]] Result<ToolAnswer> RunSlurmTool(slurm::Command command, std::string_view input,
                                              const SlurmToolOptions& options);

/// Runs Slurm's command line tools. Loop thread; the work is done on threads of its own. The destructor waits
/// for the tools that run.
class SlurmTools {
 public:
  using Options = SlurmToolOptions;

  explicit SlurmTools(Options options) : options_(std::move(options)) {}

  /// `input` is what the tool reads. kDeadlineExceeded: it did not end; kNotFound: there is no such tool. A
  /// tool that fails is no error here.
  boost::asio::awaitable<Result<ToolAnswer>> Run(slurm::Command command, std::string input = {});

 private:
  Options options_;
  /// As many as Gangs submits at once, and one for the questions meanwhile.
  boost::asio::thread_pool threads_{slurm::kSubmittingMax + 1};
};

}  // namespace trainyard::engine
