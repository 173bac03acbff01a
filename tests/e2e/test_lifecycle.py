"""The life of a job, seen from the API: order of states and log lines, outcome, errors, cancel, limits, restarts."""

import gzip
import json
import re
import time
from typing import Any

from trainyard_server import kill, processes_with, wait_for


def probe(server, upload, job_id, *words, **more):
    return server.submit(job_id, packageUris=[upload(server, "probe")], pythonModule="probe.task", args=list(words), **more)


def test_a_job_runs_to_its_end_and_says_so_in_order(server, upload):
    created = probe(server, upload, "first", "print", "hello", "stderr", "to stderr", "log", "a warning",
                    jobDir="gs://out/first")
    assert created["state"] == "QUEUED" and "createTime" in created
    job = server.wait("first")
    assert job["state"] == "SUCCEEDED", (job, server.texts("first"))
    assert job["createTime"] <= job["startTime"] <= job["endTime"]
    texts = server.texts("first")
    documented = ["Validating job requirements...", "Job creation request has been successfully validated.",
                  "Job first is queued.", "Waiting for job to be provisioned.", "Waiting for training program to start.",
                  "Running task with arguments:", "Running module probe.task.",
                  "Job is running.", "Running command: python3 -m probe.task", "Module completed; cleaning up.",
                  "Task completed successfully.", "Job completed successfully."]
    places: list[Any] = [next((i for i, text in enumerate(texts) if text.startswith(start)), None) for start in documented]
    assert None not in places, dict(zip(documented, places))
    ordered = [place for start, place in zip(documented, places) if not start.startswith(("Running command", "Job is running"))]
    assert ordered == sorted(ordered), list(zip(documented, places))
    by_text = {entry["jsonPayload"]["message"]: entry for entry in server.log_entries("first")}
    assert by_text["hello"]["severity"] == "INFO"
    assert by_text["to stderr"]["severity"] == "ERROR"
    assert by_text["a warning"]["severity"] == "WARNING"
    assert by_text["a warning"]["jsonPayload"]["levelname"] == "WARNING"
    assert by_text["hello"]["resource"]["labels"] == {"job_id": "first", "project_id": "p", "task_name": "master-replica-0"}


def test_timestamps_and_insert_ids_strictly_increase_as_text(server, upload):
    probe(server, upload, "ordered", "count", "5000")
    server.wait("ordered")
    keys = [(entry["timestamp"], entry["insertId"]) for entry in server.log_entries("ordered")]
    assert len(keys) >= 5000
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", stamp) for stamp, _ in keys)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in zip(keys, keys[1:]))


def test_arguments_and_environment(server, upload):
    import json
    probe(server, upload, "seen", "environment", "host", jobDir="gs://out/seen")
    assert server.wait("seen")["state"] == "SUCCEEDED", server.texts("seen")
    texts = server.texts("seen", "master-replica-0")
    environment = json.loads(next(t for t in texts if t.startswith("ENVIRONMENT ")).removeprefix("ENVIRONMENT "))
    tf_config = json.loads(environment["TF_CONFIG"])
    assert tf_config["environment"] == "cloud" and tf_config["task"]["index"] == 0
    assert tf_config["job"]["python_module"] == "probe.task" and tf_config["job"]["job_dir"] == "gs://out/seen"
    assert environment["CLOUD_ML_JOB_ID"] == "seen" and environment["RANK"] == "0" and environment["WORLD_SIZE"] == "1"
    host = next(t for t in texts if t.startswith("HOST ")).removeprefix("HOST ")
    assert re.fullmatch(r"cmle-training-(master|chief)-[0-9a-f]{10}-0", host)
    assert any(t.endswith("-m probe.task environment host --job-dir gs://out/seen") for t in texts), texts


def test_an_exception_fails_the_job_with_its_traceback(server, upload):
    probe(server, upload, "raised", "raise", "out of cheese")
    job = server.wait("raised")
    assert job["state"] == "FAILED"
    assert job["errorMessage"].startswith("The replica master 0 exited with a non-zero status of 1.")
    assert "RuntimeError: out of cheese" in job["errorMessage"]
    errors = [e["jsonPayload"]["message"] for e in server.log_entries("raised") if e.get("severity") == "ERROR"]
    assert any("RuntimeError: out of cheese" in text for text in errors)


def test_a_module_that_is_not_there_is_named(server, upload):
    server.submit("nomodule", packageUris=[upload(server, "probe")], pythonModule="probe.nosuch")
    job = server.wait("nomodule")
    assert job["state"] == "FAILED" and "non-zero status of 1" in job["errorMessage"]
    assert "probe.nosuch" in job["errorMessage"] + "\n".join(server.texts("nomodule"))


def test_cancel_leaves_nothing_even_of_a_daemon_that_ignores_sigterm(make_server, upload):
    server = make_server("--stop-grace", "1")
    marker = f"9{time.time_ns() % 10**8}"
    probe(server, upload, "daemon", "ignore-term", "daemon", marker, "print", "ready", "forever")
    server.wait_for_text("daemon", "ready")
    wait_for(lambda: processes_with(f"sleep {marker}") or None, lambda: "the daemon did not start")
    server.cancel("daemon")
    job = server.wait("daemon")
    assert job["state"] == "CANCELLED" and job["errorMessage"]
    assert not processes_with(f"sleep {marker}")


def test_a_cancelled_job_says_who_has_not_ended(make_server, upload):
    server = make_server("--stop-grace", "600")
    marker = f"7{time.time_ns() % 10**8}"
    probe(server, upload, "stubborn", "ignore-term", "print", marker, "forever")
    server.wait_for_text("stubborn", marker)
    server.cancel("stubborn")
    described = server.trainyard("jobs", "describe", "stubborn")
    assert "state: CANCELLING" in described.stdout and described.stderr.startswith(
        "\nWhy it is waiting:\n  The job is being cancelled. Cancelled by the user. master-replica-0 was told to end (SIGTERM).\n"
        "  Processes that still run after 600 s are killed.\n"), described
    for pid, _ in processes_with(f"print {marker} forever"):
        kill(pid)
    assert server.wait("stubborn")["state"] == "CANCELLED"


def test_an_end_leaves_nothing_of_a_daemon(server, upload):
    marker = f"8{time.time_ns() % 10**8}"
    probe(server, upload, "leftover", "daemon", marker)
    assert server.wait("leftover")["state"] == "SUCCEEDED"
    assert not processes_with(f"sleep {marker}")


def test_after_success_nobody_is_waited_for_long_and_nothing_is_an_error(server, upload, shared_folder):
    """A parameter server ends when it is told to; a worker that does not listen is killed after a short grace."""
    marker = shared_folder / "running"
    marker.touch()
    marker.chmod(0o666)
    server.submit("served", packageUris=[upload(server, "probe")], pythonModule="probe.endings", args=[str(marker)],
                  scaleTier="CUSTOM", masterType="standard", workerType="standard", workerCount=1,
                  parameterServerType="standard", parameterServerCount=1)

    def waiting():
        shown = server.request("GET", "/trainyard/v1/projects/p/jobs/served").json().get("waiting", {})
        return shown if "has succeeded" in shown.get("reason", "") else None
    shown = wait_for(waiting, lambda: f"{server.get('served')} {server.texts('served')}")
    assert "worker-replica-0" in shown["reason"] and shown["unblock"] == "Processes that still run after 5 s are killed.", shown
    assert server.wait("served")["state"] == "SUCCEEDED"
    entries = server.log_entries("served")
    by_text = {e["jsonPayload"]["message"]: e["severity"] for e in entries}
    assert by_text["closing the session"] == "WARNING", by_text
    assert not [e for e in entries if e["severity"] in ("ERROR", "CRITICAL")], by_text


def test_a_package_mounts_a_bucket_with_gcsfuse(server, upload):
    server.upload("fused-package", "in.txt", b"read through gcsfuse\n")
    probe(server, upload, "mounts", "shell", "mkdir data && gcsfuse --implicit-dirs fused-package data && cat data/in.txt && "
          "echo written > data/out.txt && fusermount -u data && rmdir data")
    assert server.wait("mounts")["state"] == "SUCCEEDED", server.texts("mounts")
    texts = server.texts("mounts", "master-replica-0")
    assert "read through gcsfuse" in texts, texts
    assert any(re.fullmatch("gcsfuse: /.*/data shows gs://fused-package .a link to /gcs/fused-package.*", text) for text in texts), texts
    assert (server.data / "buckets/fused-package/out.txt").read_text() == "written\n"


def test_cancel_of_an_ended_job_changes_nothing(server, upload):
    probe(server, upload, "over")
    before = server.wait("over")
    server.cancel("over")
    assert server.get("over") == before


def test_max_running_time_cancels(server, upload):
    probe(server, upload, "slow", "forever", scheduling={"maxRunningTime": "1s"})
    job = server.wait("slow")
    assert job["state"] == "CANCELLED" and "maximum running time of 1s" in job["errorMessage"]


def test_a_transient_exit_restarts_the_worker_only(make_server, upload, shared_folder):
    server = make_server("--restart-pause", "0")
    marker = shared_folder / "marker"
    server.submit("restarts", packageUris=[upload(server, "probe")], pythonModule="probe.task",
                  scaleTier="CUSTOM", masterType="n1-standard-4", workerType="n1-standard-4", workerCount="1",
                  args=["worker-exit", "134", "5", str(marker), "await", str(marker), "6"])
    job = server.wait("restarts")
    assert job["state"] == "SUCCEEDED", (job, server.texts("restarts"))
    texts = server.texts("restarts", "worker-replica-0")
    assert [t for t in texts if t.startswith("worker crashes")] == [f"worker crashes for the {n}. time" for n in range(1, 6)]
    runs = [t for t in server.texts("restarts", "master-replica-0") if t.startswith("Running command: python3 -m")]
    assert len(runs) == 1, server.texts("restarts")


def test_a_status_that_repeats_fails_the_job(server, upload):
    probe(server, upload, "seven", "print", "runs", "exit", "7")
    job = server.wait("seven")
    assert job["state"] == "FAILED", job
    assert "The replica master 0 exited with the status 7 twice in a row, so it was not restarted again." in job["errorMessage"], job
    assert server.texts("seven", "master-replica-0").count("runs") == 2


def test_a_pip_failure_is_the_reason(server):
    uri = server.upload("packages", "broken-1.0.tar.gz", b"this is not a package")
    server.submit("broken", packageUris=[uri], pythonModule="broken.task")
    job = server.wait("broken")
    assert job["state"] == "FAILED" and "pip: tarfile.ReadError: not a gzip file" in job["errorMessage"], job
    assert f"Installing the package: {uri}" in server.texts("broken")


def test_a_package_that_is_new_is_installed_and_a_crash_resumes_from_its_checkpoint(server, packages):
    """linreg_stdlib as its README says: exit code 3 after the checkpoint of step 100, resumed there by the restart."""
    # One empty member more: a package that no other test has had installed.
    uri = server.upload("packages", "linreg-new.tar.gz", packages["linreg_stdlib"].read_bytes() + gzip.compress(b""))
    server.submit("linreg", packageUris=[uri], pythonModule="trainer.task", args=["--crash-at-step=130"], jobDir="gs://out/linreg")
    job = server.wait("linreg")
    assert job["state"] == "SUCCEEDED", (job, server.texts("linreg"))
    texts = server.texts("linreg")
    steps = [next(i for i, text in enumerate(texts) if text.startswith(start)) for start in
             (f"Downloading the package: {uri}", f"Installing the package: {uri}", "Running module trainer.task.",
              "Command '", "The replica master 0 exited with a non-zero status of 3. The replica is restarted (1 of 5).",
              "Job completed successfully.")]
    assert steps == sorted(steps), texts
    model = json.loads((server.data / "buckets/out/linreg/model/model.json").read_text())
    assert abs(model["validation_mse"] - 0.009683) < 1e-6, model
