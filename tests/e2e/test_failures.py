"""Seeded failures: what each trainer does, which diagnosis is expected, and which words of it."""

import io
import os
import pathlib
import signal
import tarfile

import pytest

from trainyard_server import kill, processes_with, starter_of, wait_for

MISCLASSIFIED = set()  # of the table's rows: known to be wrong, with the reason
TASK = "failures.task"

# name, module, arguments, diagnosis, words of errorMessage
FAILURES = [
    ("module_missing", "failures.nosuch", [], "module_missing", "'failures.nosuch', is in none of the job's packages"),
    ("package_missing", "other.task", [], "module_missing", "'other.task', is in none of the job's packages"),
    ("package_as_module", "failures", [], "module_not_a_program", "'failures' is a package"),
    ("python_2", "failures.broken_syntax", [], "syntax_error", "Missing parentheses in call to 'print'"),
    ("import", TASK, ["missing_import"], "import_missing", "imports 'nosuch_module', which is not installed"),
    ("import_chained", TASK, ["chained"], "import_missing", "imports 'nosuch_module'"),
    ("sibling", "failures.sibling", [], "import_missing", "What to do: Write 'from . import task'"),
    ("library", TASK, ["missing_library"], "library_missing", "'libnosuch.so.3' is not installed"),
    ("library_python", TASK, ["library_python"], "library_missing", "'libGL.so.1'"),
    ("arguments", TASK, ["arguments", "--epoch=3x"], "bad_arguments", "argument --epochs: invalid int value: '3x'"),
    ("absl_flags", TASK, ["absl_flags"], "bad_arguments", "Unknown command line flag 'learning_rat'"),
    ("disk", TASK, ["disk"], "disk_full", "disk is full"),
    ("memory", TASK, ["memory"], "allocation_failed", "could not allocate memory"),
    ("files", TASK, ["files"], "too_many_files", "too many files open"),
    ("threads", TASK, ["threads"], "too_many_processes", "can't start new thread"),
    ("shared_memory", TASK, ["shared_memory"], "shared_memory_full", "/dev/shm"),
    ("port", TASK, ["port"], "port_in_use", "TF_CONFIG or MASTER_PORT"),
    ("refused", TASK, ["refused"], "peer_refused", "Connection refused"),
    ("broken_pipe", TASK, ["broken_pipe"], "peer_lost", "Broken pipe"),
    ("host_name", TASK, ["host_name"], "name_not_resolved", "host name cannot be resolved"),
    ("timeout", TASK, ["timeout"], "timed_out", "gave up waiting"),
    ("permission", TASK, ["permission"], "permission_denied", "/etc/shadow"),
    ("read_only", TASK, ["read_only"], "read_only", "read-only place"),
    ("missing_file", TASK, ["missing_file"], "file_missing", "'data/train.csv' does not exist"),
    ("gs_file", TASK, ["gs_file"], "gs_path_as_file", "'gs://models/train.csv' is an object"),
    ("storage_404", TASK, ["storage_404"], "storage_not_found", "No such object: b/train.csv"),
    ("public_bucket", TASK, ["public_bucket"], "google_bucket", "trainyard serve --real-bucket tfds-data'"),
    ("public_folder", TASK, ["public_folder"], "google_bucket", "'trainyard storage cp FILE gs://cloud-samples-data/OBJECT'"),
    ("storage_403", TASK, ["storage_403"], "storage_refused", "refused"),
    ("checkpoint", TASK, ["checkpoint"], "checkpoint_missing", "no checkpoint at 'gs://b/model.ckpt-100'"),
    ("state_dict", TASK, ["state_dict"], "checkpoint_mismatch", "fresh --job-dir"),
    ("nan", TASK, ["nan"], "not_a_number", "Lower the learning rate"),
    ("worker_killed", TASK, ["worker_killed"], "worker_killed", "Nothing shows who did it"),
    ("shapes", TASK, ["shapes"], "shape_mismatch", "[32,10] vs. [32,1]"),
    ("protobuf", TASK, ["protobuf"], "protobuf_mismatch", "Pin protobuf"),
    ("numpy_abi", TASK, ["numpy_abi"], "binary_mismatch", "numpy"),
    ("removed_function", TASK, ["removed_function"], "framework_version", "'math' has no 'placeholder'"),
    ("removed_name", TASK, ["removed_name"], "framework_version", "'math' has no 'contrib'"),
    ("bad_json", TASK, ["bad_json"], "data_malformed", "JSONDecodeError"),
    ("pickles", TASK, ["pickles"], "pickle_error", "lambda"),
    ("child", TASK, ["child"], "child_process_failed", "['false'] (non-zero exit status 1)"),
    ("recursion", TASK, ["recursion"], "recursion_limit", "recursion limit"),
    ("exception", TASK, ["exception"], "uncaught_exception", "ValueError: the learning rate must be positive"),
    ("long_chain", TASK, ["long_chain"], "uncaught_exception", "RuntimeError: cannot train."),
    ("long_chain_stderr", TASK, ["long_chain", "stderr"], "uncaught_exception", "RuntimeError: cannot train."),
    ("tensorflow_1", TASK, ["tensorflow_1"], "shape_mismatch", "Incompatible shapes: [32,10] vs. [32,1]"),
    ("tensorflow_1_stderr", TASK, ["tensorflow_1", "stderr"], "shape_mismatch", "Incompatible shapes: [32,10] vs. [32,1]"),
    ("gave_up", TASK, ["gave_up"], "exit_status", "status 1; its last words: no training data under gs://b/data"),
    ("shell_not_found", TASK, ["shell_not_found"], "command_not_found", "nosuch-command: not found"),
    ("cuda_memory", TASK, ["cuda_memory"], "gpu_out_of_memory", "Tried to allocate 2.00 GiB"),
    ("no_driver", TASK, ["no_driver"], "gpu_not_requested", "requested none"),
    ("old_driver", TASK, ["old_driver"], "gpu_driver_mismatch", "too old"),
    ("nccl", TASK, ["nccl"], "nccl_error", "NCCL_DEBUG=INFO"),
    ("device_assert", TASK, ["device_assert"], "gpu_error", "CUDA_LAUNCH_BLOCKING=1"),
    # Tried again: the replica six times, the whole job four times.
    ("status_3", TASK, ["status", "3"], "exit_status", "status 3; its last words: giving up for now"),
    ("segfault", TASK, ["kill_self", "SIGSEGV"], "segmentation_fault", "SIGSEGV"),
    ("killed", TASK, ["kill_self", "SIGKILL"], "killed", "no shortage of memory"),
]
# The first restart says as much as the end would.
RESTARTED = [
    ("abort", ["kill_self", "SIGABRT"], "Native code aborted (SIGABRT)"),
    ("no_avx", ["kill_self", "SIGILL"], "used an instruction that this processor does not have (SIGILL)"),
    ("bus", ["kill_self", "SIGBUS"], "could not be read or written (SIGBUS)"),
    ("division", ["kill_self", "SIGFPE"], "divided by zero (SIGFPE)"),
    ("terminated", ["kill_self", "SIGTERM"], "SIGTERM, which Trainyard did not send"),
    ("interrupted", ["kill_self", "SIGINT"], "interrupted (SIGINT)"),
    ("cpu_time", ["kill_self", "SIGXCPU"], "more CPU time than the system allows"),
    ("user_signal", ["kill_self", "SIGUSR1"], "ended by SIGUSR1"),
]


def archive(files):
    """A source distribution of these files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo("trainer-1.0/" + name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


SETUP = "from setuptools import setup\nsetup(name='trainer', version='1.0', packages=['trainer'], install_requires=[%s])\n"
PACKAGES = [  # name, the archive, diagnosis, words
    ("requirement", archive({"setup.py": SETUP % "'nosuch-package-of-mine==9.9'", "trainer/__init__.py": ""}),
     "pip_requirement_missing", "'nosuch-package-of-mine==9.9'"),
    ("not_an_archive", b"this is not a package", "package_not_an_archive", "not_an_archive.tar.gz) cannot be read: not a gzip file"),
    ("build", archive({"setup.py": "raise ValueError('needs a compiler')\n"}), "package_build_failed", "ValueError: needs a compiler"),
    ("file_not_in_sdist", archive({"setup.py": "open('requirements.txt')\n"}), "package_build_failed", "('include requirements.txt')"),
    ("module_in_setup", archive({"setup.py": "import nosuch_module\n"}), "package_build_failed", "[build-system] requires"),
    ("debian_packages", archive({"setup.py": "raise RuntimeError(\"Command ['apt-get', 'update'] failed: exit code 100\")\n"}),
     "package_build_failed", "Install the Debian packages on the machine"),
]


def mistakes(job, diagnosis, words):
    """What is wrong with a failed job's message."""
    message = job.get("errorMessage", "")
    wrong = []
    if job["state"] != "FAILED":
        wrong.append(f"it is {job['state']}")
    if not message.startswith("The replica master 0 exited with a non-zero status of "):
        wrong.append("it does not begin with the original's words")
    if f"Diagnosis: {diagnosis}. " not in message:
        wrong.append(f"the diagnosis is not {diagnosis}")
    if words not in message:
        wrong.append(f"{words!r} is missing")
    if "\nWhat to do: " not in message:
        wrong.append("it does not say what to do")
    if f"trainyard jobs stream-logs {job['jobId']} --task-name master-replica-0 --last 50" not in message:
        wrong.append("it does not say how to see the last lines")
    return wrong and f"{job['jobId']}: {'; '.join(wrong)}:\n{message}"


@pytest.fixture
def quick_server(make_server, upload, monkeypatch):
    """Its runtime is built; from then on pip has no index: a missing requirement is known at once, network or not."""
    server = make_server("--restart-pause", "0", "--stop-grace", "1")
    server.submit("first", packageUris=[upload(server, "failures")], pythonModule=TASK, args=["status", "0"])
    server.wait("first")
    server.stop()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    server.start()
    return server


def test_failures_are_classified(quick_server, upload):
    server, package = quick_server, upload(quick_server, "failures")
    for name, module, args, _, _ in FAILURES:
        server.submit(name, packageUris=[package], pythonModule=module, args=args)
    for name, content, _, _ in PACKAGES:
        server.submit(name, packageUris=[server.upload("packages", f"{name}.tar.gz", content)], pythonModule="trainer.task")
    rows = [(name, diagnosis, words) for name, _, _, diagnosis, words in FAILURES] + \
           [(name, diagnosis, words) for name, _, diagnosis, words in PACKAGES]
    found = {name: mistakes(server.wait(name), diagnosis, words) for name, diagnosis, words in rows}
    wrong = {name: text for name, text in found.items() if text}
    for name in ("long_chain", "long_chain_stderr"):
        message = server.get(name)["errorMessage"]
        cause, last = "\nKeyError: 'the learning rate'\n\nThe above exception was the direct cause", "\nRuntimeError: cannot train\n"
        assert cause in message and last in message, message
        # The chain is one entry of the log, whole.
        entries = [e for e in server.log_entries(name, ' AND resource.labels.task_name="master-replica-0"')
                   if "KeyError: 'the learning rate'" in e["jsonPayload"]["message"]]
        assert [e["severity"] for e in entries] == ["ERROR"] and last in entries[0]["jsonPayload"]["message"] + "\n", entries
        assert len(entries[0]["jsonPayload"]["message"]) > 2048
    assert len(rows) >= 40
    assert set(wrong) == MISCLASSIFIED, "\n\n".join(wrong.values())


def test_a_restart_says_why(quick_server, upload):
    server, package = quick_server, upload(quick_server, "failures")
    for name, args, _ in RESTARTED:
        server.submit(name, packageUris=[package], pythonModule=TASK, args=args)
    for name, _, words in RESTARTED:
        line = wait_for(lambda name=name: next((text for text in server.texts(name, "service") if "is restarted (1 of 5)" in text), None),
                        lambda name=name: f"{name}: {server.texts(name)}")
        assert words in line.partition(" Why: ")[2], line
    for name, _, _ in RESTARTED:
        server.wait(name)


def test_a_lost_supervisor_is_named(quick_server, upload):
    server = quick_server
    server.submit("lost", packageUris=[upload(server, "failures")], pythonModule=TASK, args=["forever"])
    server.wait_for_text("lost", "ready")
    for pid, _ in processes_with(f"{server.data}/attempts/"):
        kill(pid)
    line = wait_for(lambda: next((text for text in server.texts("lost", "service") if "is restarted (1 of 5)" in text), None),
                    lambda: str(server.texts("lost")))
    assert "the replica master 0 was lost" in line and "supervisor ended without leaving a record" in line
    server.cancel("lost")
    assert server.wait("lost")["state"] == "CANCELLED"


def test_a_time_limit_says_what_to_do(quick_server, upload):
    quick_server.submit("slow", packageUris=[upload(quick_server, "failures")], pythonModule=TASK, args=["forever"],
                        scheduling={"maxRunningTime": "1s"})
    job = quick_server.wait("slow")
    assert job["state"] == "CANCELLED"
    assert job["errorMessage"].endswith("maximum running time of 1s. Raise scheduling.maxRunningTime to let it run longer.")


def test_the_last_lines_are_one_call_away(quick_server, upload):
    server = quick_server
    server.submit("lines", packageUris=[upload(server, "failures")], pythonModule=TASK, args=["gave_up"])
    server.wait("lines")
    shown = server.trainyard("jobs", "stream-logs", "lines", "--task-name", "master-replica-0", "--last", "5")
    assert shown.returncode == 0, shown.stderr
    assert [line.split("\t")[-1] for line in shown.stdout.splitlines()] == server.texts("lines", "master-replica-0")[-5:]
    missing = server.trainyard("jobs", "stream-logs", "nosuch", "--last", "5")
    assert missing.returncode == 1 and "NOT_FOUND" in missing.stderr


@pytest.fixture
def small_machine():
    """A memory cgroup of 300 MiB for a server: to what runs in it, the machine is out of memory then."""
    root = next((root for root in map(pathlib.Path, ("/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"))
                 if (root / "cgroup.procs").exists() and (root / "memory.limit_in_bytes").exists()), None)
    if os.geteuid() != 0 or root is None:
        pytest.skip("needs root and the memory controller of cgroup version 1")
    assert root is not None
    group = root / f"trainyard-test-{os.getpid()}"
    group.mkdir()
    (group / "memory.limit_in_bytes").write_text(str(300 << 20))
    yield group
    for pid in (group / "cgroup.procs").read_text().split():
        os.kill(int(pid), signal.SIGKILL)
    wait_for(lambda: True if not (group / "cgroup.procs").read_text().split() else None, lambda: "processes stay in the cgroup")
    for child in group.iterdir():
        if child.is_dir():
            child.rmdir()
    group.rmdir()


def test_a_machine_out_of_memory_is_told_from_a_kill(small_machine, quick_server, upload):
    package = upload(quick_server, "failures")
    for pid in (quick_server.process.pid, starter_of(quick_server)):
        (small_machine / "cgroup.procs").write_text(str(pid))
    quick_server.submit("hungry", packageUris=[package], pythonModule=TASK, args=["eat"])
    job = quick_server.wait("hungry")
    assert job["state"] == "FAILED"
    assert job["errorMessage"].startswith("The replica master 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL) ")
    assert "Diagnosis: machine_out_of_memory. " in job["errorMessage"] and "it had used up to 2" in job["errorMessage"], job
