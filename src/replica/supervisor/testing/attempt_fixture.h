#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/testing/temporary_folder.h"
#include "base/async/unique_fd.h"
#include "programs/attempt/attempt_dir.h"
#include "replica/supervisor/testing/fake_server.h"

namespace trainyard::replica {

/// Waits until the process has ended (it need not be our child); false after 20 s.
[[nodiscard]] bool WaitForEnd(const UniqueFd& pidfd);
/// Whether the process exists and is not a zombie.
[[nodiscard]] bool IsRunning(pid_t pid);
/// For a process that was killed: its lock is released a moment before the process counts as ended. False
/// after 2 s.
[[nodiscard]] bool WaitUntilGone(pid_t pid);

/// A supervisor in a separate process, with an attempt of a one-replica job whose "python" is a shell script.
class AttemptFixture : public testing::Test {
 protected:
  AttemptFixture();
  ~AttemptFixture() override;

  /// Sets the replica's program: the body of a script for /bin/sh; its arguments are those of python.
  void Program(const std::string& script);
  /// A program that runs until LetEnd, and ends with status 4.
  void ProgramUntilLetEnd() { Program("until [ -e go ]; do sleep 0.005; done; exit 4"); }
  /// A Python program, with the machine's own interpreter.
  void PythonProgram(const std::string& text);
  /// Makes the runtime need preparation: a script that creates bin/python or fails.
  void PreparedBy(const std::string& script);
  /// The job's part of the manifest, for an attempt host.
  [[nodiscard]] v1::Manifest Order() const;
  void StartServer();
  void StopServer() { server_.reset(); }
  /// Starts `replica DIR`; options go before the directory.
  void StartSupervisor(const std::vector<std::string>& options = {});
  /// Waits for READY, opens the barrier, and waits for RUNNING.
  void OpenBarrier();
  void Run() {
    StartServer();
    StartSupervisor(options_);
    OpenBarrier();
  }
  v1::ExitRecord WaitForExit();
  /// Waits for the exit record, dismisses, and waits for the supervisor's end. Nothing of the attempt may be
  /// left.
  v1::ExitRecord Finish();
  void Stop(const std::string& reason, bool kill = false);
  void Dismiss();
  /// Starts the server for an existing supervisor, lets its program run and end, and dismisses it.
  bool LetEnd();
  /// Waits until the condition is true for the server's memory; false after 20 s. Called with the memory
  /// locked. A fixture whose own thread serves the supervisor's connection does that meanwhile.
  [[nodiscard]] virtual bool WaitFor(const std::function<bool(const FakeServer::Memory&)>& condition) {
    return server_->WaitFor(condition);
  }
  [[nodiscard]] bool WaitForPhase(v1::Phase phase);
  [[nodiscard]] bool WaitForLine(const std::string& text);
  /// "SEVERITY text" of each line so far.
  [[nodiscard]] std::vector<std::string> Lines();
  /// The lines between "Running command" and "Module completed" (or the command's failure).
  [[nodiscard]] std::vector<std::string> UserLines();
  void ExpectNothingLeft();
  [[nodiscard]] std::string SupervisorLog() const { return folder_.path() + "/supervisor.log"; }

  TemporaryFolder folder_;
  AttemptDir dir_;
  v1::Manifest manifest_;
  v1::Cluster cluster_;
  std::vector<std::string> options_;
  UniqueFd engine_lock_;  ///< passed to the supervisor, if there is one, as an attempt host does
  std::shared_ptr<FakeServer::Memory> memory_ = std::make_shared<FakeServer::Memory>();
  std::unique_ptr<FakeServer> server_;
  pid_t supervisor_ = -1;
  UniqueFd supervisor_fd_;
};

}  // namespace trainyard::replica
