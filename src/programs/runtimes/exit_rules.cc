#include "programs/runtimes/exit_rules.h"

#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <utility>

#include "rules/diagnosis/classify.h"

namespace trainyard::replica {

namespace {

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

/// Formats bytes as MiB: "60", "59.9".
std::string Mebibytes(std::int64_t bytes) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  const std::int64_t tenths = bytes % kMebibyte * 10 / kMebibyte;
  return std::to_string(bytes / kMebibyte) + (tenths == 0 ? "" : "." + std::to_string(tenths));
}

std::string MemoryMessage(const ObservedEnd& end) {
  const std::string peak =
      end.memory_peak_bytes == 0 ? "" : " (peak " + Mebibytes(end.memory_peak_bytes) + " MiB)";
  if (!diagnosis::IsAtMemoryLimit(end.memory_peak_bytes, end.memory_bytes))
    return "the machine ran out of memory and the kernel killed one of the replica's processes" + peak;
  return "the replica's processes used more than the " + Mebibytes(end.memory_bytes) +
         " MiB that they are allowed" + peak + "; the kernel killed one";
}

void DecideStop(const ObservedEnd& end, v1::ExitRecord& exit) {
  exit.set_cause(end.shut_down ? v1::ExitRecord::SHUT_DOWN : v1::ExitRecord::STOPPED);
  exit.set_message(end.stop_reason);
}

diagnosis::Tpu TpuOf(const v1::Devices& devices) {
  using diagnosis::Tpu;
  if (devices.waiver() == v1::Devices::CPU_FOR_TPU) return Tpu::kReplaced;
  if (devices.waiver() == v1::Devices::WITHOUT)
    return devices.accelerator_type().starts_with("TPU_") ? Tpu::kWaived : Tpu::kNotRequested;
  if (devices.tpu_node_name().empty()) return Tpu::kNotRequested;
  return devices.device_files().empty() ? Tpu::kDeclared : Tpu::kGiven;
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
  exit.set_processes_limit(end.processes_limit);
  exit.set_processes_refused(end.processes_refused > 0 && !succeeded);
  if (end.stop_requested && !(end.shut_down && succeeded)) {
    DecideStop(end, exit);
  } else if (!end.failure.empty()) {
    exit.set_cause(end.lost ? v1::ExitRecord::LOST : v1::ExitRecord::PREPARATION_FAILED);
    exit.clear_signal();
    exit.set_exit_code(1);
    exit.set_message(end.failure);
  } else if (end.oom_kills > 0 && !succeeded) {
    exit.set_cause(v1::ExitRecord::OUT_OF_MEMORY);
    exit.set_message(MemoryMessage(end));
  } else if (exited) {
    exit.set_cause(v1::ExitRecord::EXITED);
  } else {
    exit.set_cause(v1::ExitRecord::SIGNALED);
    exit.set_message("the replica's process was killed by " + SignalName(exit.signal()));
  }
  return exit;
}

std::string KilledWorkerWarning(const ObservedEnd& end, const v1::ExitRecord& exit) {
  const bool succeeded = exit.cause() == v1::ExitRecord::EXITED && exit.exit_code() == 0;
  if (!succeeded || !end.counts_oom_kills || end.oom_kills == 0) return {};
  return "The program ended with status 0, although a process of it was killed: " + MemoryMessage(end) +
         ". Its results may be incomplete.";
}

void Explain(const v1::Manifest& manifest, std::vector<diagnosis::OutputLine> last_lines,
             v1::ExitRecord& exit, KnownOfEnd known) {
  auto diagnosis = diagnosis::Classify({.cause = exit.cause(),
                                        .exit_code = exit.exit_code(),
                                        .signal = exit.signal(),
                                        .message = exit.message(),
                                        .traceback = exit.traceback(),
                                        .last_lines = std::move(last_lines),
                                        .python_module = manifest.program().python_module(),
                                        .import_is_sibling = known.import_is_sibling,
                                        .accelerators = manifest.devices().gpus_size(),
                                        .tpu = TpuOf(manifest.devices()),
                                        .memory_peak_bytes = exit.memory_peak_bytes(),
                                        .memory_limit_bytes = exit.memory_limit_bytes(),
                                        .counts_memory_kills = known.counts_oom_kills,
                                        .processes_limit = exit.processes_limit(),
                                        .processes_refused = exit.processes_refused()});
  if (diagnosis) *exit.mutable_diagnosis() = *std::move(diagnosis);
}

int LoggedStatus(const v1::ExitRecord& exit) noexcept {
  return exit.signal() != 0 ? -exit.signal() : exit.exit_code();
}

}  // namespace trainyard::replica
