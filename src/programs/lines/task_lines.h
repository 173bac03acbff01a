#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What the supervisor itself writes into a replica's log, worded like the original's runner. Pure: any
/// thread. Source: spec lifecycle.md section 6, rows 7 to 14.
namespace trainyard::replica {

inline constexpr std::string_view kRunnerPath = "/runcloudml.py";
inline constexpr std::string_view kModuleCompleted = "Module completed; cleaning up.";
inline constexpr std::string_view kCleanUpFinished = "Clean up finished.";
inline constexpr std::string_view kTaskCompleted = "Task completed successfully.";
inline constexpr std::string_view kTerminatedByService =
    "Terminated by service. If the job is supposed to continue running, it will be restarted on other VM "
    "shortly.";

/// "Running task with arguments: --cluster={...} --task={...} --job={...}"; see cluster::RunnerArguments.
[[nodiscard]] std::string RunningTaskLine(std::string_view arguments);
/// "Running module trainer.task."
[[nodiscard]] std::string RunningModuleLine(std::string_view module);
/// "Running command: python3 -m trainer.task --job-dir gs://b/d"
[[nodiscard]] std::string RunningCommandLine(const std::vector<std::string>& command);
/// "Command '['python3', '-m', 'trainer.task']' returned non-zero exit status 1"; a signal's number is
/// negative.
[[nodiscard]] std::string CommandFailedLine(const std::vector<std::string>& command, int status);

}  // namespace trainyard::replica
