#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "control/testing/schedule.h"

/// Schedules in processes of their own, so that a crash is a violation like others. The caller must be the
/// only thread of its process, outside of a Simulation.
namespace trainyard::control {

/// A directory below the system's one for temporary files, which is removed with everything in it.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// The processor time that one schedule may take before it counts as hanging.
void LimitProcessorTime();

/// From now on this process writes its errors to the file: the server's lines of a schedule that keeps its
/// promises are of no use to anybody.
void RedirectErrors(const std::filesystem::path& file);

/// "The program ended with signal 11 (Segmentation fault)". `status` is waitpid's.
[[nodiscard]] std::string DescribeEnd(int status);

struct IsolatedRun {
  std::vector<std::string> violations{};
  std::vector<std::string> story{};
  std::string errors{};  ///< the last of what the program wrote to its standard error, if it crashed
};

/// Runs one schedule in a child process. @param scratch  an existing directory. @param disk_lies  as
/// Simulation::Options
[[nodiscard]] IsolatedRun RunIsolated(const Schedule& schedule, const std::filesystem::path& scratch,
                                      bool disk_lies = false);

/// A failing schedule and what is left of it when it is shrunk: schedules that break the same promise count
/// as failing, whichever job it is about.
struct ShrunkFailure {
  Schedule schedule{};
  IsolatedRun run{};  ///< of the shrunk schedule
  int tries = 0;
};
[[nodiscard]] ShrunkFailure ShrinkFailure(const Schedule& failing, const IsolatedRun& failure,
                                          const std::filesystem::path& scratch, bool disk_lies = false);

}  // namespace trainyard::control
