#include "runtimes/exit_rules.h"

#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <utility>

#include "diagnosis/classify.h"

namespace trainyard::replica {

namespace {

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::string MemoryMessage(std::int64_t memory_bytes) {
  if (memory_bytes == 0) return "the machine ran out of memory and the kernel killed the replica's process";
  return "the replica's processes used more than the " + std::to_string(memory_bytes >> 20) +
         " MiB that they may use";
}

/// The main process was killed: itself, or below a runtime or a shell, which exits with 128 + SIGKILL for it.
bool WasKilled(const v1::ExitRecord& exit) {
  constexpr int kSignalBase = 128;
  return exit.signal() == SIGKILL || exit.exit_code() == kSignalBase + SIGKILL;
}

}  // namespace

v1::ExitRecord DecideExit(const ObservedEnd& end) {
  v1::ExitRecord exit;
  const bool exited = end.reported && WIFEXITED(end.wait_status);
  if (exited) {
    exit.set_exit_code(WEXITSTATUS(end.wait_status));
  } else {
    exit.set_signal(end.reported && WIFSIGNALED(end.wait_status) ? WTERMSIG(end.wait_status) : SIGKILL);
  }
  exit.set_memory_peak_bytes(end.memory_peak_bytes);
  exit.set_memory_limit_bytes(end.memory_bytes);
  const bool succeeded = exited && exit.exit_code() == 0;
  const bool killed = end.oom_kills > 0 || (end.machine_oom && WasKilled(exit));
  if (end.stop_requested) {
    exit.set_cause(v1::ExitRecord::STOPPED);
    exit.set_message(end.stop_reason);
  } else if (!end.failure.empty()) {
    exit.set_cause(end.lost ? v1::ExitRecord::LOST : v1::ExitRecord::PREPARATION_FAILED);
    exit.clear_signal();
    exit.set_exit_code(1);
    exit.set_message(end.failure);
  } else if (killed && !succeeded) {
    exit.set_cause(v1::ExitRecord::OUT_OF_MEMORY);
    exit.set_message(MemoryMessage(end.memory_bytes));
  } else if (exited) {
    exit.set_cause(v1::ExitRecord::EXITED);
  } else {
    exit.set_cause(v1::ExitRecord::SIGNALED);
    exit.set_message("the replica's process was killed by " + SignalName(exit.signal()));
  }
  return exit;
}

void Explain(const v1::Manifest& manifest, std::vector<diagnosis::OutputLine> last_lines,
             v1::ExitRecord& exit) {
  auto known = diagnosis::Classify({.cause = exit.cause(),
                                    .exit_code = exit.exit_code(),
                                    .signal = exit.signal(),
                                    .message = exit.message(),
                                    .traceback = exit.traceback(),
                                    .last_lines = std::move(last_lines),
                                    .python_module = manifest.program().python_module(),
                                    .accelerators = manifest.devices().gpus_size(),
                                    .memory_peak_bytes = exit.memory_peak_bytes(),
                                    .memory_limit_bytes = exit.memory_limit_bytes()});
  if (known) *exit.mutable_diagnosis() = *std::move(known);
}

int LoggedStatus(const v1::ExitRecord& exit) noexcept {
  return exit.signal() != 0 ? -exit.signal() : exit.exit_code();
}

}  // namespace trainyard::replica
