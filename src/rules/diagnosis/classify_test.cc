#include "rules/diagnosis/classify.h"

#include <gtest/gtest.h>

#include <csignal>

namespace trainyard::diagnosis {
namespace {

using replica::v1::ExitRecord;

constexpr std::int64_t kMiB = 1 << 20;

std::string Raised(const std::string& exception) {
  return "Traceback (most recent call last):\n  File \"/w/trainer/task.py\", line 3, in <module>\n    "
         "main()\n" +
         exception;
}

/// A program that raised an exception, which is its last output.
Symptoms Exception(const std::string& text) {
  Symptoms seen{.cause = ExitRecord::EXITED,
                .exit_code = 1,
                .traceback = Raised(text),
                .python_module = "trainer.task"};
  seen.last_lines.push_back({text.substr(0, text.find('\n')), true});
  return seen;
}

/// A program that wrote to stderr and ended.
Symptoms Said(int status, std::vector<std::string> lines) {
  Symptoms seen{.cause = ExitRecord::EXITED, .exit_code = status, .python_module = "trainer.task"};
  for (std::string& line : lines) seen.last_lines.push_back({std::move(line), true});
  return seen;
}

Symptoms Signal(int signal, std::vector<std::string> lines = {}) {
  Symptoms seen = Said(0, std::move(lines));
  seen.cause = ExitRecord::SIGNALED;
  seen.signal = signal;
  return seen;
}

Symptoms End(ExitRecord::Cause cause, std::string message) {
  return {.cause = cause, .exit_code = 1, .message = std::move(message)};
}

Symptoms OutOfMemory(std::int64_t peak, std::int64_t limit) {
  return {.cause = ExitRecord::OUT_OF_MEMORY,
          .signal = SIGKILL,
          .memory_peak_bytes = peak,
          .memory_limit_bytes = limit};
}

Symptoms Uncounted(Symptoms seen) {
  seen.counts_memory_kills = false;
  return seen;
}

Symptoms Refused(Symptoms seen) {
  seen.processes_limit = 16'384;
  seen.processes_refused = true;
  return seen;
}

Symptoms WithPackage(Symptoms seen) {
  seen.last_lines.push_back({"Installing the package: gs://b/trainer-1.0.tar.gz", false});
  return seen;
}

Symptoms WithGpu(Symptoms seen) {
  seen.accelerators = 1;
  return seen;
}

Symptoms WithTpu(Tpu tpu, Symptoms seen) {
  seen.tpu = tpu;
  return seen;
}

struct Row {
  std::string name;
  Symptoms seen;
  std::string diagnosis;  ///< empty: none
  std::string words;      ///< in the summary
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class Classifies : public testing::TestWithParam<Row> {};

TEST_P(Classifies, ByName) {
  const auto diagnosis = Classify(GetParam().seen);
  ASSERT_EQ(diagnosis.has_value(), !GetParam().diagnosis.empty());
  if (!diagnosis) return;
  EXPECT_EQ(diagnosis->name(), GetParam().diagnosis) << diagnosis->summary();
  EXPECT_NE(diagnosis->summary().find(GetParam().words), std::string::npos) << diagnosis->summary();
  EXPECT_EQ(diagnosis->summary().find('{'), std::string::npos) << diagnosis->summary();
}

INSTANTIATE_TEST_SUITE_P(
    Kernel, Classifies,
    testing::Values(
        Row{"success", Said(0, {"Connection refused"}), "", ""},
        Row{"limit", OutOfMemory(64 * kMiB, 64 * kMiB), "out_of_memory",
            "more than the 64 MiB of memory that it may use (it had used up to 64 MiB)"},
        Row{"limit_without_peak", OutOfMemory(0, 2048 * kMiB), "out_of_memory",
            "more than the 2.0 GiB of memory that it may use."},
        Row{"machine", OutOfMemory(1536 * kMiB, 0), "machine_out_of_memory", "(it had used up to 1.5 GiB)"},
        Row{"machine_below_the_limit", OutOfMemory(100 * kMiB, 1024 * kMiB), "machine_out_of_memory",
            "100 MiB"},
        Row{"lost", End(ExitRecord::LOST, "it was killed"), "supervisor_lost", "supervisor"},
        Row{"preparation_killed", End(ExitRecord::LOST, "pip: it was killed (signal 9)"),
            "killed_before_start", "pip"},
        Row{"sandbox_killed", End(ExitRecord::LOST, "the init process was killed"), "killed_before_start",
            "init"},
        Row{"engine_gone",
            End(ExitRecord::LOST, "The container engine went away while the container ran: no answer"),
            "container_lost", "engine"},
        Row{"engine_again", End(ExitRecord::LOST, "The output of the container broke off: it is cut"),
            "container_lost", "engine"},
        Row{"time",
            End(ExitRecord::STOPPED,
                "The job is being cancelled. The job ran longer than its maximum running time of 60s."),
            "time_limit", "limit"},
        Row{"maintenance", End(ExitRecord::STOPPED, "Host maintenance."), "maintenance", "maintenance"},
        Row{"shutdown", End(ExitRecord::SHUT_DOWN, "the system asked the supervisor to end"),
            "machine_shutdown", "shuts down"},
        Row{"process_limit", Refused(Said(1, {"can't start new thread"})), "process_limit",
            "reached its limit of 16384 processes and threads."},
        Row{"process_limit_and_a_crash", Refused(Signal(SIGABRT)), "process_limit", "16384"},
        Row{"process_limit_and_success", Refused(Said(0, {})), "", ""},
        Row{"process_limit_and_a_kill", Refused(Signal(SIGKILL)), "killed", "SIGKILL"},
        Row{"process_limit_and_a_stop", Refused(End(ExitRecord::STOPPED, "The job has succeeded.")), "", ""},
        Row{"stopped", End(ExitRecord::STOPPED, "The job has succeeded."), "", ""},
        Row{"killed", Signal(SIGKILL, {"Connection refused"}), "killed", "no shortage of memory"},
        Row{"killed_uncounted", Uncounted(Signal(SIGKILL, {"Connection refused"})), "killed_unexplained",
            "cannot tell whether memory ran out"},
        Row{"killed_uncounted_in_a_shell", Uncounted(Said(137, {})), "killed_unexplained", "cannot tell"},
        Row{"failed_uncounted", Uncounted(Said(3, {})), "exit_status", "status 3"},
        Row{"killed_in_a_shell", Said(137, {"Connection refused"}), "killed", "SIGKILL"},
        Row{"terminated", Signal(SIGTERM), "terminated", "SIGTERM"},
        Row{"interrupted", Signal(SIGINT), "keyboard_interrupt", "SIGINT"},
        Row{"segfault", Signal(SIGSEGV), "segmentation_fault", "SIGSEGV"},
        Row{"segfault_status", Said(139, {}), "segmentation_fault", "SIGSEGV"},
        Row{"abort", Signal(SIGABRT, {"F tensorflow/core/x.cc:12] Check failed: a == b"}), "aborted",
            "Check failed: a == b"},
        Row{"bad_alloc", Signal(SIGABRT, {"terminate called after throwing an instance of 'std::bad_alloc'"}),
            "allocation_failed", "bad_alloc"},
        Row{"no_avx", Signal(SIGILL), "illegal_instruction", "SIGILL"},
        Row{"bus", Signal(SIGBUS), "bus_error", "SIGBUS"},
        Row{"fpe", Signal(SIGFPE), "arithmetic_fault", "zero"},
        Row{"cpu_time", Signal(SIGXCPU), "cpu_time_limit", "SIGXCPU"},
        Row{"file_size", Signal(SIGXFSZ), "file_size_limit", "SIGXFSZ"},
        Row{"other_signal", Signal(SIGUSR1), "signal", "SIGUSR1"},
        Row{"status", Said(3, {"giving up"}), "exit_status", "status 3; its last words: giving up."},
        Row{"silent_status", Said(3, {}), "exit_status", "status 3."},
        Row{"status_126", Said(126, {"sh: ./run: Exec format error"}), "command_not_executable",
            "Exec format error"},
        Row{"status_127", Said(127, {"sh: 1: gsutil: not found"}), "command_not_found", "gsutil: not found"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Preparation, Classifies,
    testing::Values(
        Row{"requirement",
            WithPackage(End(ExitRecord::PREPARATION_FAILED,
                            "pip: No matching distribution found for nosuchpkg==9")),
            "pip_requirement_missing", "'nosuchpkg==9' (gs://b/trainer-1.0.tar.gz)"},
        Row{"requirement_of",
            End(ExitRecord::PREPARATION_FAILED,
                "pip: No matching distribution found for nosuchpkg (from trainer==1.0)"),
            "pip_requirement_missing", "'nosuchpkg'."},
        Row{"index",
            End(ExitRecord::PREPARATION_FAILED,
                "pip: Could not reach the package index (Connection refused)"),
            "pip_index_unreachable", "(Connection refused)"},
        Row{"disk", End(ExitRecord::PREPARATION_FAILED, "pip: No space left on device"), "disk_full", "disk"},
        Row{"archive",
            WithPackage(End(ExitRecord::PREPARATION_FAILED, "pip: tarfile.ReadError: not a gzip file")),
            "package_not_an_archive", "(gs://b/trainer-1.0.tar.gz) cannot be read: not a gzip file"},
        Row{"build", End(ExitRecord::PREPARATION_FAILED, "pip: the package cannot be built: ValueError: no"),
            "package_build_failed", "ValueError: no"},
        Row{"build_of_a_requirement",
            WithPackage(End(ExitRecord::PREPARATION_FAILED,
                            "pip: the package numpy cannot be built: NameError: name 'CCompiler'")),
            "package_build_failed",
            "The requirement 'numpy' (gs://b/trainer-1.0.tar.gz) has no wheel for this Python, and cannot be "
            "built: NameError: name 'CCompiler'."},
        Row{"build_of_the_package",
            WithPackage(End(ExitRecord::PREPARATION_FAILED,
                            "pip: the package Trainer cannot be built: ValueError: no")),
            "package_build_failed",
            "The package (gs://b/trainer-1.0.tar.gz) cannot be built: ValueError: no."},
        Row{"apt",
            WithPackage(End(ExitRecord::PREPARATION_FAILED,
                            "pip: the package trainer cannot be built: RuntimeError: Command ['apt-get', "
                            "'update'] failed: exit code 100")),
            "package_build_failed", "runs a package manager of the system"},
        Row{"file_not_in_the_package",
            WithPackage(End(ExitRecord::PREPARATION_FAILED,
                            "pip: the package cannot be built: FileNotFoundError: [Errno 2] No such file or "
                            "directory: '/tmp/pip-req-build-ivvy4ii1/requirements.txt'")),
            "package_build_failed", "reads the file 'requirements.txt', which is not in the package."},
        Row{"file_not_in_the_package_by_name",
            WithPackage(End(ExitRecord::PREPARATION_FAILED,
                            "pip: the package cannot be built: FileNotFoundError: [Errno 2] No such file or "
                            "directory: 'README.md'")),
            "package_build_failed", "reads the file 'README.md', which is not in the package."},
        Row{"module_of_setup",
            WithPackage(
                End(ExitRecord::PREPARATION_FAILED,
                    "pip: the package cannot be built: ModuleNotFoundError: No module named 'numpy'")),
            "package_build_failed", "imports 'numpy', which is not installed while the package is built."},
        Row{"python_file",
            WithPackage(
                End(ExitRecord::PREPARATION_FAILED,
                    "pip: Invalid requirement: '/d/in/0/task.py': Expected package name at the start")),
            "package_not_an_archive", "is a Python file, and not a package."},
        Row{"exec", End(ExitRecord::PREPARATION_FAILED, "cannot run /x/python: exec: Permission denied"),
            "program_cannot_start", "Permission denied"},
        Row{"unknown", End(ExitRecord::PREPARATION_FAILED, "it rained"), "preparation_failed", "it rained."},
        Row{"nothing_said", End(ExitRecord::PREPARATION_FAILED, ""), "preparation_failed", ""}),
    [](const auto& row) { return row.param.name; });

/// A program in an image, without a pythonModule.
Symptoms InImage(Symptoms seen) {
  seen.python_module.clear();
  return seen;
}

/// What TensorFlow 1.15 writes when an operation fails, as the supervisor stores it: frames are not evidence.
Symptoms TensorFlow1() {
  const std::string said =
      "tensorflow.python.framework.errors_impl.InvalidArgumentError: 2 root error(s) found.\n"
      "  (0) Invalid argument: Incompatible shapes: [2] vs. [3]\n"
      "\t [[node add (defined at /w/trainer/task.py:7) ]]\n"
      "0 successful operations.\n0 derived errors ignored.\n\n"
      "Original stack trace for 'add':\n  File \"/w/trainer/task.py\", line 7, in <module>\n    z = x + y";
  Symptoms seen = Exception(said);
  for (const char* line : {"  (0) Invalid argument: Incompatible shapes: [2] vs. [3]",
                           "0 successful operations.", "0 derived errors ignored."})
    seen.last_lines.push_back({line, true});
  return seen;
}

/// What TensorFlow 2.15 writes: the reason comes after the frames that created the operation.
Symptoms TensorFlow2(const std::string& reason) {
  Symptoms seen = Exception(
      "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n\n"
      "Detected at node sequential/dense/MatMul defined at (most recent call last):\n"
      "  File \"/w/trainer/task.py\", line 7, in <module>\n\n" +
      reason + "\n\t [[{{node sequential/dense/MatMul}}]] [Op:__inference_train_function_474]");
  seen.last_lines.push_back({reason, true});
  seen.last_lines.push_back(
      {"\t [[{{node sequential/dense/MatMul}}]] [Op:__inference_train_function_474]", true});
  return seen;
}

/// What PyTorch writes when a worker of a DataLoader raises.
Symptoms OfWorker(const std::string& exception) {
  Symptoms seen = Exception(
      "ValueError: Caught ValueError in DataLoader worker process 0.\n"
      "Original Traceback (most recent call last):\n"
      "  File \"/w/trainer/data.py\", line 9, in __getitem__\n    return self.read(index)\n" +
      exception);
  seen.last_lines.push_back({exception, true});
  return seen;
}

INSTANTIATE_TEST_SUITE_P(
    Python, Classifies,
    testing::Values(
        Row{"module_of_an_image", InImage(Said(1, {"/usr/local/bin/python: No module named trainer.task"})),
            "module_missing", "The module to run, 'trainer.task', is not in the image."},
        Row{"package_of_an_image",
            InImage(Said(1, {"/usr/bin/python3: Error while finding module specification for 'trainer.task' "
                             "(ModuleNotFoundError: No module named 'trainer')"})),
            "module_missing",
            "The module to run, 'trainer.task', is not found in the image: No module named 'trainer'."},
        Row{"package_of_an_image_without_main",
            InImage(Said(1, {"/usr/bin/python3: No module named trainer.__main__; 'trainer' is a package and "
                             "cannot be directly executed"})),
            "module_not_a_program", "'trainer' is a package, not a module that can be run."},
        Row{"program_of_an_image",
            InImage(Said(2, {"/usr/bin/python3: can't open file '/app/task.py': [Errno 2] No such file or "
                             "directory"})),
            "module_missing", "The program to run, '/app/task.py', is not in the image."},
        Row{"import_in_an_image", InImage(Exception("ModuleNotFoundError: No module named 'yaml'")),
            "import_missing", "The program imports 'yaml', which is not installed."},
        Row{"long_last_words",
            Said(3,
                 {"cannot go on: the configuration names a data set that is not there, a model that is not "
                  "there, an optimizer that is not there, a schedule that is not there, metrics that are "
                  "not there, and further things"}),
            "exit_status", "not there, and further..."},
        Row{"tensorflow_1", TensorFlow1(), "shape_mismatch", "Incompatible shapes: [2] vs. [3]"},
        Row{"tensorflow_2", TensorFlow2("Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"),
            "shape_mismatch", "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"},
        Row{"tensorflow_2_unknown", TensorFlow2("indices[0,0] = 12 is not in [0, 10)"), "uncaught_exception",
            "InvalidArgumentError: Graph execution error: indices[0,0] = 12 is not in [0, 10)."},
        Row{"worker_of_pytorch", OfWorker("ValueError: bad sample 3"), "uncaught_exception",
            "an exception: ValueError: bad sample 3."},
        Row{"module", Said(1, {"/r/bin/python3: No module named trainer.task"}), "module_missing",
            "'trainer.task'"},
        Row{"package",
            Said(1, {"/r/bin/python3: Error while finding module specification for 'trainer.task' "
                     "(ModuleNotFoundError: No module named 'trainer')"}),
            "module_missing", "'trainer.task'"},
        Row{"import_of_the_package",
            Said(1, {"/r/bin/python3: Error while finding module specification for 'trainer.task' "
                     "(ModuleNotFoundError: No module named 'yaml')"}),
            "import_missing", "'yaml'"},
        Row{"no_main",
            Said(1, {"/r/bin/python3: No module named trainer.__main__; 'trainer' is a package and cannot be "
                     "directly executed"}),
            "module_not_a_program", "is a package"},
        Row{"import", Exception("ModuleNotFoundError: No module named 'yaml'"), "import_missing", "'yaml'"},
        Row{"import_of_a_sibling",
            [] {
              Symptoms seen = Exception("ModuleNotFoundError: No module named 'helpers'");
              seen.import_is_sibling = true;
              return seen;
            }(),
            "import_missing", "The program imports 'helpers', which is a module of its own package."},
        Row{"import_of_a_missing_part",
            Exception("ModuleNotFoundError: No module named 'sklearn.modelselection'"), "import_missing",
            "sklearn has no module modelselection, which the program imports."},
        Row{"import_of_a_missing_part_of_a_sibling",
            [] {
              Symptoms seen = Exception("ModuleNotFoundError: No module named 'helpers.texts'");
              seen.import_is_sibling = true;
              return seen;
            }(),
            "import_missing", "helpers has no module texts"},
        Row{"import_hidden_by_a_file",
            Exception("ModuleNotFoundError: No module named 'torch.nn'; 'torch' is not a package"),
            "import_missing", "imports 'torch.nn', but 'torch' is not a package"},
        Row{"import_with_more_words",
            Exception("ModuleNotFoundError: No module named 'yaml'. Try 'pip install'"), "import_missing",
            "The program imports 'yaml', which is not installed."},
        Row{"worker", Exception("RuntimeError: DataLoader worker (pid 3) is killed by signal: Killed."),
            "worker_killed", "DataLoader worker (pid 3)"},
        Row{"library",
            Exception("ImportError: libGL.so.1: cannot open shared object file: No such file or directory"),
            "library_missing", "libGL.so.1"},
        Row{"syntax", Exception("SyntaxError: invalid syntax"), "syntax_error", "invalid syntax"},
        Row{"usage",
            Said(2, {"usage: task.py [-h] [--epochs EPOCHS]",
                     "task.py: error: unrecognized arguments: --epoch=3"}),
            "bad_arguments", "unrecognized arguments: --epoch=3"},
        Row{"absl", Said(1, {"FATAL Flags parsing error: Unknown command line flag 'x'"}), "bad_arguments",
            "Unknown command line flag 'x'"},
        Row{"usage_words_with_another_status", Said(3, {"task.py: error: no data"}), "exit_status",
            "no data"},
        Row{"gave_up", Said(1, {"no training data"}), "exit_status",
            "status 1; its last words: no training data"},
        Row{"exception", Exception("ValueError: too cold."), "uncaught_exception", "ValueError: too cold."},
        Row{"old_traceback",
            [] {
              Symptoms seen = Said(3, std::vector<std::string>(20, "going on"));
              seen.traceback = Raised("ModuleNotFoundError: No module named 'yaml'");
              return seen;
            }(),
            "exit_status", "going on"},
        Row{"chain_known_at_its_end",
            Exception(
                "KeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\n" +
                Raised("ModuleNotFoundError: No module named 'yaml'")),
            "import_missing", "'yaml'"},
        Row{"chain_known_at_its_beginning",
            Exception("ModuleNotFoundError: No module named 'yaml'\n\nThe above exception was the direct "
                      "cause of the "
                      "following exception:\n\n" +
                      Raised("RuntimeError: cannot set up")),
            "import_missing", "'yaml'"},
        Row{"chain_unknown",
            Exception(
                "KeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\n" +
                Raised("ValueError: no")),
            "uncaught_exception", "ValueError: no"},
        Row{"recursion", Exception("RecursionError: maximum recursion depth exceeded"), "recursion_limit",
            "recursion limit"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    System, Classifies,
    testing::Values(
        Row{"disk", Exception("OSError: [Errno 28] No space left on device: 'big'"), "disk_full", "disk"},
        Row{"shm", Exception("OSError: [Errno 28] No space left on device: '/dev/shm/x'"),
            "shared_memory_full", "/dev/shm"},
        Row{"memory",
            Exception("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array"),
            "allocation_failed", "7.45 GiB"},
        Row{"files", Exception("OSError: [Errno 24] Too many open files: 'x'"), "too_many_files", "open"},
        Row{"threads", Exception("RuntimeError: can't start new thread"), "too_many_processes", "thread"},
        Row{"port", Exception("OSError: [Errno 98] Address already in use"), "port_in_use",
            "Address already in use"},
        Row{"grpc_port",
            Exception("tensorflow.python.framework.errors_impl.UnknownError: Could not start gRPC server"),
            "port_in_use", "gRPC"},
        Row{"refused", Exception("ConnectionRefusedError: [Errno 111] Connection refused"), "peer_refused",
            "refused"},
        Row{"reset", Exception("ConnectionResetError: [Errno 104] Connection reset by peer"), "peer_lost",
            "reset"},
        Row{"name", Exception("socket.gaierror: [Errno -2] Name or service not known"), "name_not_resolved",
            "Name"},
        Row{"timeout", Exception("TimeoutError: timed out"), "timed_out", "waiting"},
        Row{"permission", Exception("PermissionError: [Errno 13] Permission denied: '/etc/x'"),
            "permission_denied", "/etc/x"},
        Row{"read_only", Exception("OSError: [Errno 30] Read-only file system: '/x'"), "read_only", "/x"},
        Row{"file", Exception("FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'"),
            "file_missing", "'data.csv'"},
        Row{"gs_as_file",
            Exception("FileNotFoundError: [Errno 2] No such file or directory: 'gs://b/data.csv'"),
            "gs_path_as_file", "'gs://b/data.csv'"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Frameworks, Classifies,
    testing::Values(
        Row{"object",
            Exception("google.api_core.exceptions.NotFound: 404 GET http://h/b/x: No such object: b/x"),
            "storage_not_found", "No such object"},
        Row{"tf_object",
            Exception("tensorflow.python.framework.errors_impl.NotFoundError: Error executing an HTTP "
                      "request: HTTP response code 404 with body"),
            "storage_not_found", "404"},
        Row{"forbidden", Exception("google.api_core.exceptions.Forbidden: 403 POST http://h"),
            "storage_refused", "403"},
        Row{"checkpoint",
            Exception("tensorflow.python.framework.errors_impl.NotFoundError: Unsuccessful TensorSliceReader "
                      "constructor: Failed to find any matching files for gs://b/model.ckpt-100"),
            "checkpoint_missing", "'gs://b/model.ckpt-100'"},
        Row{"state_dict",
            Exception("RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for fc.weight"),
            "checkpoint_mismatch", "Net"},
        Row{"nan",
            Exception("tensorflow.python.training.basic_session_run_hooks.NanLossDuringTrainingError: NaN "
                      "loss during training."),
            "not_a_number", "NaN loss"},
        Row{"shape",
            Exception("tensorflow.python.framework.errors_impl.InvalidArgumentError: Incompatible shapes: "
                      "[2] vs. [3]"),
            "shape_mismatch", "[2] vs. [3]"},
        Row{"protobuf", Exception("TypeError: Descriptors cannot be created directly."), "protobuf_mismatch",
            "Descriptors"},
        Row{"abi", Exception("ValueError: numpy.dtype size changed, may indicate binary incompatibility"),
            "binary_mismatch", "numpy.dtype"},
        Row{"attribute", Exception("AttributeError: module 'tensorflow' has no attribute 'placeholder'"),
            "framework_version", "'tensorflow' has no 'placeholder'"},
        Row{"name", Exception("ImportError: cannot import name 'url_quote' from 'werkzeug.urls' (/x)"),
            "framework_version", "'werkzeug.urls' has no 'url_quote'"},
        Row{"json", Exception("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
            "data_malformed", "Expecting value"},
        Row{"pickle", Exception("_pickle.PicklingError: Can't pickle <function <lambda> at 0x7f>"),
            "pickle_error", "lambda"},
        Row{"command",
            Exception(
                "subprocess.CalledProcessError: Command '['gsutil', 'cp']' returned non-zero exit status 1."),
            "child_process_failed", "gsutil"},
        Row{"cuda_memory",
            Exception("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
            "gpu_out_of_memory", "2.00 GiB"},
        Row{"no_gpu_asked", Exception("RuntimeError: Found no NVIDIA driver on your system."),
            "gpu_not_requested", "requested none"},
        Row{"no_gpu_seen", WithGpu(Exception("RuntimeError: No CUDA GPUs are available")), "gpu_not_found",
            "was given"},
        Row{"driver",
            Exception("RuntimeError: The NVIDIA driver on your system is too old (found version 10010)."),
            "gpu_driver_mismatch", "too old"},
        Row{"nccl",
            Exception("torch.distributed.DistBackendError: NCCL error in: x.cpp:1, unhandled system error"),
            "nccl_error", "NCCL"},
        Row{"no_tpu_asked", Exception("ValueError: Please provide a TPU Name to connect to."),
            "tpu_not_requested", "requested none"},
        Row{"no_tpu_given",
            WithTpu(Tpu::kWaived, Exception("ValueError: Please provide a TPU Name to connect to.")),
            "tpu_waived", "the TPU that the job requested"},
        Row{"tpu_of_another_name",
            Exception("ValueError: Could not lookup TPU metadata from name 'a'. Please doublecheck the tpu "
                      "argument in the TPUClusterResolver constructor. Exception: <HttpError 404 when "
                      "requesting https://tpu.googleapis.com/v1/projects/p/locations/z/nodes/a?alt=json "
                      "returned \"Resource 'projects/p/locations/z/nodes/a' was not found\">"),
            "tpu_not_found", "Could not lookup TPU metadata from name 'a'"},
        Row{"tpu_without_endpoint", Exception("ValueError: No task with index 0 in job 'worker'"),
            "tpu_not_found", "No task with index 0"},
        Row{"tpu_of_a_tensorflow_without",
            Exception("tensorflow.python.framework.errors_impl.NotFoundError: TPUs not found in the cluster. "
                      "Failed in initialization: No OpKernel was registered to support Op "
                      "'ConfigureDistributedTPU'"),
            "tpu_not_found", "TPUs not found"},
        Row{"assert", Exception("RuntimeError: CUDA error: device-side assert triggered"), "gpu_error",
            "device-side"},
        Row{"cuda_said_before",
            [] {
              Symptoms seen = Exception("RuntimeError: worker failed");
              seen.last_lines.insert(
                  seen.last_lines.begin(),
                  {"E external/x.cc:1] failed call to cuInit: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
                   true});
              return seen;
            }(),
            "gpu_out_of_memory", "cuInit"}),
    [](const auto& row) { return row.param.name; });

TEST(Classify, TakesAnything) {
  Symptoms seen = Exception(std::string(100'000, 'x'));
  seen.last_lines.push_back({"\xff\xfe{1}{line}", true});
  EXPECT_EQ(Classify(seen)->name(), "uncaught_exception");
  EXPECT_LT(Classify(seen)->summary().size(), 500U);
  EXPECT_FALSE(Classify({}).has_value());
}

TEST(Advice, IsForTheWayInWhichTheProgramWasSent) {
  struct SentRow {
    Symptoms seen;
    const char* package;
    const char* run;
    const char* image;
  };
  const SentRow rows[] = {
      {Exception("ModuleNotFoundError: No module named 'yaml'"), "install_requires of setup.py",
       "requirements.txt beside the program", "in the image"},
      {Exception("ModuleNotFoundError: No module named 'matplotlb'"), "Did you mean matplotlib? Add",
       "Did you mean matplotlib? Add", "Did you mean matplotlib? Install"},
      {Exception("ModuleNotFoundError: No module named 'sklearn.modelselection'"),
       "Did you mean sklearn.model_selection? Check the name", "the version of sklearn that the job has",
       "the version of sklearn in the image"},
      {Exception("RuntimeError: Found no NVIDIA driver on your system"), "scaleTier BASIC_GPU",
       "'trainyard run --gpus 1'", "masterConfig.acceleratorConfig"},
      {Exception("FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'"),
       "package_data in setup.py", "sends the files in the program's directory", "COPY"},
      {WithPackage(End(ExitRecord::PREPARATION_FAILED, "pip: No matching distribution found for nosuch==9")),
       "install_requires of setup.py", "requirements.txt (or pyproject.toml)", "install_requires"},
  };
  for (const SentRow& row : rows) {
    for (const auto& [module, words] : {std::pair("trainer.task", row.package),
                                        std::pair("trainyard_program", row.run), std::pair("", row.image)}) {
      Symptoms seen = row.seen;
      seen.python_module = module;
      EXPECT_NE(Classify(seen)->advice().find(words), std::string::npos) << Classify(seen)->advice();
    }
  }
}

TEST(Advice, OfAMissingTpuIsWhatThatServerCanDo) {
  struct TpuRow {
    Tpu tpu;
    const char* words;
  };
  const TpuRow rows[] = {{Tpu::kNotRequested, "Request a TPU (scaleTier BASIC_TPU"},
                         {Tpu::kWaived, "--accelerator-map TYPE=cpu (tpu-v2=cpu)"},
                         {Tpu::kReplaced, "change what else the program asks of a TPU"},
                         {Tpu::kDeclared, "gives the replica no device file of one"},
                         {Tpu::kGiven, "name it 'local'"}};
  for (const TpuRow& row : rows) {
    const auto diagnosis =
        Classify(WithTpu(row.tpu, Exception("ValueError: Please provide a TPU Name to connect to.")));
    ASSERT_TRUE(diagnosis);
    EXPECT_NE(diagnosis->advice().find(row.words), std::string::npos) << diagnosis->advice();
  }
}

}  // namespace
}  // namespace trainyard::diagnosis
