#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/exit_rules.h"
#include "programs/runtimes/program_source.h"
#include "programs/sandbox/required_isolation.h"

namespace trainyard::replica {

/// One attempt whose program is to be run. All references outlive the program.
struct ProgramStart {
  const AttemptDir& dir;
  const v1::Manifest& manifest;
  const v1::Cluster& cluster;
  int lock_fd;
  RequiredIsolation required;
};

/// What runs, and how: a Python module in the machine's own files (program.cc), a container by an OCI
/// runtime or by a container daemon's API (container_program.h). It describes its sandbox; pipes, cgroup and
/// network are the same for all kinds of program (UserProcess). One thread.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  /// argv, as the log shows it.
  [[nodiscard]] virtual std::vector<std::string> Shown() const = 0;
  /// The log lines that say what is about to run.
  [[nodiscard]] virtual std::vector<std::string> Announcement() const = 0;
  /// The log line for a sandbox whose program was forked from a warm interpreter (Sandbox::is_warm).
  [[nodiscard]] virtual std::string WarmLine() const { return {}; }
  /// The weakest isolation that it can run with.
  [[nodiscard]] virtual Isolation WeakestIsolation() const { return Isolation::kNone; }
  /// The program's processes are not below the sandbox, and this process cannot measure them.
  [[nodiscard]] virtual bool is_elsewhere() const { return false; }
  /// The sandbox of the program with that isolation: what is run, its variables, its directory, its view of
  /// the files. The caller sets descriptors, cgroup, host name and isolation. May write into the attempt's
  /// directory. kFailedPrecondition: the program cannot be run (the message says why).
  [[nodiscard]] virtual Result<SandboxPlan> Plan(const ProgramStart& start, Isolation isolation) = 0;
  /// The features that it lacks with that isolation, one line each.
  [[nodiscard]] virtual std::vector<std::string> Lacks(const ProgramStart& start,
                                                       Isolation isolation) const = 0;
  /// Adds what it knows about the end of its sandbox to `end`.
  virtual void OnEnded(const ProgramStart& start, ObservedEnd& end) const {
    static_cast<void>(start);
    static_cast<void>(end);
  }
  /// Called if the attempt's directory was removed while it ran, and its sandbox has ended: ends processes
  /// that run elsewhere.
  virtual void GiveUp(const ProgramStart& start) const { static_cast<void>(start); }
  /// Called when everything has ended and all output was read: removes files that the process which later
  /// removes the attempt's directory may not remove.
  virtual void CleanUp(const ProgramStart& start) const { static_cast<void>(start); }
};

/// Makes the manifest's program, to run in what was prepared for it. kFailedPrecondition: there is nothing to
/// run.
[[nodiscard]] Result<std::unique_ptr<Program>> MakeProgram(const v1::Manifest& manifest, Prepared prepared);

using Variables = std::map<std::string, std::string>;

/// The sources of the variables of the user's process; later members take precedence.
struct VariableSources {
  Variables base;         ///< of the replica: HOME, TMPDIR, HOSTNAME
  Variables devices{};    ///< CUDA_VISIBLE_DEVICES, TPU_CONFIG and their like
  Variables cluster;      ///< TF_CONFIG and its like
  Variables environment;  ///< of the Python environment; "PATH" is prepended to PATH
  Variables manifest;     ///< of the server
  Variables channels;     ///< how the buckets are reached
};

/// "NAME=value" for each variable: PATH and LANG of a plain system, PYTHONUNBUFFERED (lines are logged when
/// they are written), then the sources. The supervisor's own environment is not included. Pure: any thread.
[[nodiscard]] std::vector<std::string> UserEnvironment(const VariableSources& sources);

}  // namespace trainyard::replica
