#include "rules/diagnosis/rule.h"

namespace trainyard::diagnosis {
namespace {

constexpr std::array kRules{
    Rule{.name = "shared_memory_full",
         .meaning = "/dev/shm is full",
         .summary = "Shared memory (/dev/shm) is full: {line}.",
         .advice = "Use fewer or no worker processes for loading data, or smaller batches.",
         .patterns = {"No space left on device: '/dev/shm", "No space left on device: '/psm",
                      "unable to write to file </torch_", "Unexpected bus error encountered in worker",
                      "killed by signal: Bus error", "insufficient shared memory"}},
    Rule{
        .name = "disk_full",
        .summary = "The disk is full.",
        .advice =
            "Write less, or free space on the disk that holds the server's data directory (on a cluster: "
            "the node's), or in /dev/shm if the program writes there; results belong under --job-dir, "
            "not in the working directory.",
        .run_advice =
            "Write less, or free space on the disk that holds the server's data directory, or in /dev/shm if "
            "the program writes there; results belong into the folder that TRAINYARD_JOB_DIR names.",
        .patterns = {"No space left on device", "Disk quota exceeded", "[Errno 28]", "[Errno 122]"}},
    Rule{.name = "worker_killed",
         .meaning = "a worker process of the program was killed",
         .summary = "A worker process of the program was killed: {line}.",
         .advice = "Nothing shows who did it. Look at the memory that the replica used ('trainyard jobs "
                   "describe JOB --summarize') and at /dev/shm, which counts as memory; use fewer workers or "
                   "smaller batches.",
         .patterns = {"DataLoader worker (pid*) is killed by signal", "DataLoader worker (pid*) exited unexp",
                      "BrokenProcessPool", "TerminatedWorkerError"}},
    Rule{
        .name = "allocation_failed",
        .meaning = "the program could not allocate memory",
        .summary = "The program could not allocate memory: {line}.",
        .advice = "Read the data in parts, use a smaller batch, or a machine type with more memory.",
        .patterns = {"MemoryError", "Unable to allocate *", "std::bad_alloc", "Cannot allocate memory",
                     "OOM when allocating tensor", "not enough memory: you tried to allocate", "[Errno 12]"}},
    Rule{.name = "too_many_files",
         .meaning = "too many open files",
         .summary = "The program has too many files open.",
         .advice = "Close files and connections; with many data workers set "
                   "torch.multiprocessing.set_sharing_strategy('file_system').",
         .patterns = {"Too many open files", "[Errno 24]"}},
    Rule{.name = "too_many_processes",
         .meaning = "no further process or thread could be started",
         .summary = "The program could not start another process or thread: {line}.",
         .advice = "Use fewer threads and workers (OMP_NUM_THREADS), or raise the limit of processes on the "
                   "machine.",
         .patterns = {"can't start new thread", "Resource temporarily unavailable", "pthread_create failed",
                      "fork: retry"}},
    Rule{.name = "port_in_use",
         .meaning = "the port to listen on is in use",
         .summary = "A port that the program wants to listen on is in use: {line}.",
         .advice = "Listen on the port that TF_CONFIG or MASTER_PORT names: it is reserved for this replica; "
                   "any other port must be free on the machine.",
         .patterns = {"Address already in use", "EADDRINUSE", "Could not start gRPC server", "[Errno 98]",
                      "server socket has failed to listen"}},
    Rule{
        .name = "name_not_resolved",
        .meaning = "a host name that does not resolve",
        .summary = "A host name cannot be resolved: {line}.",
        .advice =
            "Replicas reach each other by the names in TF_CONFIG; other names need the machine's network.",
        .patterns = {"Name or service not known", "Temporary failure in name resolution",
                     "Could not resolve host", "NameResolutionError", "No address associated with hostname"}},
    Rule{.name = "peer_refused",
         .meaning = "nothing listens at the address that the program connected to",
         .summary = "A connection was refused: {line}.",
         .advice = "The other side does not listen yet, or has ended: let the program retry for a while at "
                   "its start, and look at the other replicas' last lines.",
         .patterns = {"Connection refused", "ConnectionRefusedError", "[Errno 111]",
                      "failed to connect to all addresses"}},
    Rule{
        .name = "peer_lost",
        .meaning = "a connection broke",
        .summary = "A connection broke: {line}.",
        .advice = "The other side ended: look at the other replicas' last lines.",
        .patterns = {"Connection reset by peer", "ConnectionResetError", "BrokenPipeError", "Socket closed",
                     "Broken pipe", "Connection closed by peer", "RemoteDisconnected", "Connection aborted"}},
    Rule{.name = "timed_out",
         .meaning = "the program gave up waiting",
         .summary = "The program gave up waiting: {line}.",
         .advice = "Look at what the other replicas do at that time, or raise the timeout.",
         .patterns = {"TimeoutError", "DeadlineExceeded", "Deadline Exceeded", "Timed out", "timed out",
                      "TimeoutExpired"}},
    Rule{.name = "read_only",
         .meaning = "a write to a place that is read-only for the replica",
         .summary = "The program wrote to a read-only place: {line}.",
         .advice = "Write below the working directory, /tmp or --job-dir.",
         .run_advice = "Write below the working directory, /tmp or the folder that TRAINYARD_JOB_DIR names.",
         .patterns = {"Read-only file system", "[Errno 30]"}},
    Rule{.name = "permission_denied",
         .meaning = "the system refused access to a file",
         .summary = "Access was refused: {line}.",
         .advice = "Write below the working directory, /tmp or --job-dir; check the owner of what the "
                   "program reads.",
         .run_advice = "Write below the working directory, /tmp or the folder that TRAINYARD_JOB_DIR names; "
                       "check the owner of what the program reads.",
         .patterns = {"PermissionError", "Permission denied", "[Errno 13]", "Operation not permitted"}},
    Rule{.name = "file_missing",
         .meaning = "a file that does not exist",
         .summary = "The file '{1}' does not exist.",
         .advice =
             "Data files of a package need package_data in setup.py and a path relative to __file__; every "
             "attempt begins with an empty working directory.",
         .run_advice = "'trainyard run' sends the files in the program's directory and names those that it "
                       "leaves out; upload other data ('trainyard storage cp') and open it below /gcs.",
         .image_advice = "Check that COPY puts it into the image; files of buckets are below /gcs.",
         .patterns = {"No such file or directory: '*'", "FileNotFoundError: *",
                      "NotFoundError: *; No such file or directory"}},
};

}  // namespace

std::span<const Rule> SystemRules() { return kRules; }

}  // namespace trainyard::diagnosis
