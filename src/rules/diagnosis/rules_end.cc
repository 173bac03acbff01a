#include <csignal>

#include "rules/diagnosis/rule.h"

namespace trainyard::diagnosis {
namespace {

using replica::v1::ExitRecord;

bool IsOutOfMemory(const Symptoms& seen) { return seen.cause == ExitRecord::OUT_OF_MEMORY; }

bool IsOverLimit(const Symptoms& seen) {
  return IsOutOfMemory(seen) && IsAtMemoryLimit(seen.memory_peak_bytes, seen.memory_limit_bytes);
}

bool IsLost(const Symptoms& seen) { return seen.cause == ExitRecord::LOST; }

bool Says(const Symptoms& seen, std::string_view words) {
  return seen.message.find(words) != std::string::npos;
}
bool IsContainerLost(const Symptoms& seen) {
  return IsLost(seen) &&
         (seen.message.starts_with("The container ") || Says(seen, "output of the container broke off"));
}
bool IsKilledBeforeStart(const Symptoms& seen) {
  return IsLost(seen) && (Says(seen, "the preparation was killed") ||
                          Says(seen, "the init process was killed") || Says(seen, ": it was killed (signal"));
}
bool IsTimeLimit(const Symptoms& seen) {
  return seen.cause == ExitRecord::STOPPED &&
         (Says(seen, "maximum running time") || Says(seen, "maximum wait time"));
}
bool IsMaintenance(const Symptoms& seen) {
  return seen.cause == ExitRecord::STOPPED && Says(seen, "Host maintenance");
}
bool IsSystemStop(const Symptoms& seen) { return seen.cause == ExitRecord::SHUT_DOWN; }

/// A shell or a launcher reports a child's signal as 128 plus its number.
template <int kSignal>
bool IsSignal(const Symptoms& seen) {
  constexpr int kShell = 128;
  return seen.cause == ExitRecord::SIGNALED ? seen.signal == kSignal : seen.exit_code == kShell + kSignal;
}
bool IsUnexplainedKill(const Symptoms& seen) { return !seen.counts_memory_kills && IsSignal<SIGKILL>(seen); }
/// A program that was killed or terminated from outside did not fail because of the process limit.
bool IsProcessLimit(const Symptoms& seen) {
  if (!seen.processes_refused || IsSignal<SIGKILL>(seen) || IsSignal<SIGTERM>(seen) || IsSignal<SIGINT>(seen))
    return false;
  return seen.cause == ExitRecord::SIGNALED || (seen.cause == ExitRecord::EXITED && seen.exit_code != 0);
}
bool IsAnySignal(const Symptoms& seen) { return seen.cause == ExitRecord::SIGNALED; }

bool IsNotExecutable(const Symptoms& seen) { return seen.exit_code == 126; }
bool IsNotFound(const Symptoms& seen) { return seen.exit_code == 127; }

constexpr std::array kKernel{
    Rule{.name = "out_of_memory",
         .meaning = "the kernel killed it at the replica's memory limit",
         .summary = "The replica needed more than the {limit} of memory that it may use{peak}.",
         .advice = "Use a machine type with more memory, a smaller batch, or read the data in parts.",
         .applies = IsOverLimit},
    Rule{.name = "machine_out_of_memory",
         .meaning = "the machine ran out of memory and the kernel chose this replica",
         .summary = "The machine ran out of memory and its kernel killed a process of this replica{peak}.",
         .advice =
             "Run fewer replicas at once ('trainyard serve --capacity strict' gives each its machine type's "
             "memory), or use less in each.",
         .applies = IsOutOfMemory},
    Rule{.name = "container_lost",
         .meaning = "the container engine or a container's output went away",
         .summary = "The container engine was stopped or started again while the replica's container ran.",
         .advice = "No action is needed when the engine runs again: the container is removed and the replica "
                   "restarts. Containers that an OCI runtime runs (--container-engine oci) need no engine.",
         .applies = IsContainerLost},
    Rule{.name = "killed_before_start",
         .meaning = "what prepared or started the replica was killed",
         .summary = "Something killed the replica before its program ran: {message}.",
         .advice =
             "The replica is restarted automatically. If that happens each time, see the machine's own log "
             "for a lack of memory, and whether a package kills processes while it is installed.",
         .applies = IsKilledBeforeStart},
    Rule{
        .name = "supervisor_lost",
        .meaning = "the replica's supervisor ended without leaving a record",
        .summary =
            "The replica's supervisor ended without leaving a record; the replica's processes ended with it.",
        .advice = "It was killed, or the machine was restarted or ran out of memory: see the machine's own "
                  "log. The replica is restarted automatically.",
        .applies = IsLost},
    Rule{.name = "time_limit",
         .meaning = "maxRunningTime or maxWaitTime passed",
         .summary = "The job's time limit passed.",
         .advice = "Raise scheduling.maxRunningTime or maxWaitTime, and write checkpoints to --job-dir.",
         .applies = IsTimeLimit},
    Rule{.name = "maintenance",
         .meaning = "the replica was stopped to start again elsewhere",
         .summary = "The replica was stopped for maintenance of its machine.",
         .advice = "No action is needed: it restarts with the same name and cluster, and should continue "
                   "from its last checkpoint.",
         .applies = IsMaintenance},
    Rule{.name = "machine_shutdown",
         .meaning = "the system ended the supervisor (SIGTERM), as a shutdown does",
         .summary =
             "The system asked the replica's supervisor to end, as it does when the machine shuts down, its "
             "service is stopped or its user logs out.",
         .advice = "No action is needed: the replica restarts when the server runs again. To keep jobs "
                   "running after a logout, see docs/your-machine.md.",
         .applies = IsSystemStop},
    Rule{.name = "process_limit",
         .meaning = "the kernel refused the replica one more process or thread",
         .summary = "The replica reached its limit of {processes} processes and threads.",
         .advice =
             "Use fewer threads and data workers (OMP_NUM_THREADS), and wait for processes that have ended.",
         .applies = IsProcessLimit},
};

constexpr std::array kEnd{
    Rule{
        .name = "illegal_instruction",
        .meaning = "SIGILL: compiled for another processor",
        .summary = "The program used an instruction that this processor does not have (SIGILL).",
        .advice =
            "A package was built for newer processors (TensorFlow needs AVX): use another machine or a build "
            "without it.",
        .applies = IsSignal<SIGILL>},
    Rule{.name = "segmentation_fault",
         .meaning = "SIGSEGV in native code",
         .summary = "Native code crashed with a segmentation fault (SIGSEGV).",
         .advice =
             "Set PYTHONFAULTHANDLER=1 to see where; incompatible compiled packages are the usual cause.",
         .applies = IsSignal<SIGSEGV>},
    Rule{.name = "bus_error",
         .meaning = "SIGBUS: memory behind a file is gone",
         .summary = "A mapped file or shared memory could not be read or written (SIGBUS).",
         .advice =
             "/dev/shm or the disk is full, or a file was cut while it was mapped: use fewer data workers.",
         .applies = IsSignal<SIGBUS>},
    Rule{.name = "arithmetic_fault",
         .meaning = "SIGFPE: an integer division by zero in native code",
         .summary = "Native code divided by zero (SIGFPE).",
         .advice = "Look for empty batches or zero sizes in the data; PYTHONFAULTHANDLER=1 shows where.",
         .applies = IsSignal<SIGFPE>},
    Rule{.name = "aborted",
         .meaning = "SIGABRT: native code aborted",
         .summary = "Native code aborted (SIGABRT){said}.",
         .advice = "A check failed or the heap is damaged: the replica's last lines say which, and "
                   "PYTHONFAULTHANDLER=1 shows where.",
         .applies = IsSignal<SIGABRT>},
    Rule{
        .name = "killed_unexplained",
        .meaning = "SIGKILL, where nothing counts kills for memory",
        .summary = "The program was killed (SIGKILL); this machine cannot tell whether memory ran out{peak}.",
        .advice = "Give the server its own cgroups (docs/your-machine.md), so that the kernel reports the "
                  "cause; the replica is restarted automatically.",
        .applies = IsUnexplainedKill},
    Rule{.name = "killed",
         .meaning = "SIGKILL, and not for memory",
         .summary = "The program was killed (SIGKILL) by a signal from outside the job or by itself; the "
                    "kernel reports no shortage of memory{peak}.",
         .advice = "Find out what ends processes on this machine; the replica is restarted automatically.",
         .applies = IsSignal<SIGKILL>},
    Rule{
        .name = "terminated",
        .meaning = "SIGTERM, not sent by Trainyard",
        .summary =
            "The program was ended by SIGTERM, which Trainyard did not send: it came from outside the job or "
            "from the program itself.",
        .advice = "Find out what ends processes on this machine; the replica is restarted automatically.",
        .applies = IsSignal<SIGTERM>},
    Rule{.name = "keyboard_interrupt",
         .summary = "The program was interrupted (SIGINT).",
         .advice = "Something sent SIGINT to it; Trainyard itself sends SIGTERM only.",
         .applies = IsSignal<SIGINT>},
    Rule{.name = "cpu_time_limit",
         .meaning = "SIGXCPU: a limit of CPU time",
         .summary = "The program used more CPU time than the system allows it (SIGXCPU).",
         .advice = "Raise the limit (ulimit -t) that the server was started with.",
         .applies = IsSignal<SIGXCPU>},
    Rule{.name = "file_size_limit",
         .meaning = "SIGXFSZ: a limit of file size",
         .summary = "The program wrote a larger file than the system allows it (SIGXFSZ).",
         .advice = "Raise the limit (ulimit -f) that the server was started with.",
         .applies = IsSignal<SIGXFSZ>},
    Rule{.name = "signal",
         .meaning = "any other signal",
         .summary = "The program was ended by {signal}.",
         .advice = "Find out what sent the signal; the replica is restarted automatically.",
         .applies = IsAnySignal},
    Rule{.name = "command_not_executable",
         .meaning = "status 126",
         .summary = "The program, or a command that it ends with, is not executable (status 126){said}.",
         .advice = "Check the command's mode and its first line.",
         .applies = IsNotExecutable},
    Rule{.name = "command_not_found",
         .meaning = "status 127",
         .summary = "The program ended with status 127, as a shell does when a command is not found{said}.",
         .advice = "Install the command on the machine, or use its Python library.",
         .applies = IsNotFound},
    Rule{.name = "exit_status",
         .meaning = "the program exited with a status other than 0 and printed no known error",
         .summary = "The program exited with status {status}{said}.",
         .advice =
             "Look at its last lines. Status 1, 2, 126 and 127 fail the job at once; any other status of a "
             "program's own does when it comes twice in a row."},
};

}  // namespace

std::span<const Rule> KernelRules() { return kKernel; }
std::span<const Rule> EndRules() { return kEnd; }

}  // namespace trainyard::diagnosis
