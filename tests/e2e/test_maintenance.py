"""Maintenance moves one replica; restarts pause; what replicas use is measured and shown."""

import json
import re

from trainyard_server import wait_for


def gang(server, upload, job_id, *words, **more):
    return server.submit(job_id, packageUris=[upload(server, "keeper")], pythonModule="keeper.task", args=list(words),
                         scaleTier="CUSTOM", masterType="n1-standard-4", workerType="n1-standard-4", workerCount="1", **more)


def test_maintenance_moves_a_replica_that_goes_on_from_its_checkpoint(server, upload, shared_folder):
    gang(server, upload, "moved", str(shared_folder))
    server.wait_for_text("moved", "worker runs from step 0")
    moved = server.trainyard("jobs", "maintain", "moved", "worker-replica-0")
    assert moved.returncode == 0, moved.stderr
    assert "[worker-replica-0] of job [moved] is being restarted" in moved.stderr
    server.wait_for_text("moved", "worker runs from step 7")
    texts = server.texts("moved", "worker-replica-0")
    order = [texts.index(next(text for text in texts if text.startswith(start))) for start in
             ("worker runs from step 0",
              "Terminated by service. If the job is supposed to continue running, it will be restarted on other VM shortly.",
              "Reason: Host maintenance.", "SIGTERM: saved step 7", "worker runs from step 7")]
    assert order == sorted(order), texts
    seen = [json.loads(text.removeprefix("SEEN ")) for text in texts if text.startswith("SEEN ")]
    assert len(seen) == 2 and seen[0]["host"] == seen[1]["host"]
    assert set(seen[0]["environment"]) == set(seen[1]["environment"])
    changed = {name for name, value in seen[0]["environment"].items() if seen[1]["environment"][name] != value}
    assert changed <= {"HOME", "PATH", "GCE_METADATA_HOST", "GCE_METADATA_IP", "GCE_METADATA_ROOT"}, "an attempt's own: its folder, its token"
    assert seen[0]["files"] == seen[1]["files"] == [], "the working directory is fresh"
    service = server.texts("moved", "service")
    assert any(text.startswith("Host maintenance: the replica worker 0 is being stopped") for text in service), service
    assert "The replica worker 0 has stopped for maintenance and starts again. This does not count as a restart." in service
    assert server.get("moved")["state"] == "RUNNING"
    assert sum(text.startswith("Running command: python3 -m") for text in server.texts("moved", "master-replica-0")) == 1
    (shared_folder / "done").touch()
    assert server.wait("moved")["state"] == "SUCCEEDED"
    for replica, words in (("worker-replica-0", "does not run: the job is SUCCEEDED"),
                           ("ps-replica-0", "It has master-replica-0, worker-replica-0.")):
        refused = server.trainyard("jobs", "maintain", "moved", replica)
        assert refused.returncode == 1 and words in refused.stderr, refused.stderr
    bad = server.request("POST", "/trainyard/v1/projects/p/jobs/moved:maintain", json={"worker": 1})
    assert bad.status_code == 400, bad.text
    assert server.request("POST", "/trainyard/v1/projects/p/jobs/nosuch:maintain", json={"replica": "x"}).status_code == 404


def test_restarts_wait_longer_each_time(make_server, upload, shared_folder):
    server = make_server("--restart-pause", "0.25")
    marker = shared_folder / "marker"
    server.submit("slower", packageUris=[upload(server, "probe")], pythonModule="probe.task", scaleTier="CUSTOM",
                  masterType="n1-standard-4", workerType="n1-standard-4", workerCount="1",
                  args=["worker-exit", "134", "3", str(marker), "await", str(marker), "4"])
    assert server.wait("slower")["state"] == "SUCCEEDED"
    lines = [text.partition(" Why:")[0] for text in server.texts("slower", "service") if "is restarted" in text]
    said = "The replica worker 0 exited with a non-zero status of 134. The replica is restarted "
    assert lines == [said + "(1 of 5).", said + "in 0.25 s (2 of 5).", said + "in 0.5 s (3 of 5)."]
    entries = server.log_entries("slower", ' AND resource.labels.task_name="worker-replica-0"')
    crashes = [e for e in entries if e["jsonPayload"]["message"].startswith("worker crashes")]
    starts = [e for e in entries if e["jsonPayload"]["message"].startswith("Running command: python3 -m")]
    pause = seconds(starts[3]["timestamp"]) - seconds(crashes[2]["timestamp"])
    assert pause >= 0.5, pause


def seconds(timestamp):
    hours, minutes, rest = re.fullmatch(r".*T(\d\d):(\d\d):([\d.]+)Z", timestamp).groups()
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def test_what_a_replica_uses_is_measured_and_shown(server, upload, shared_folder):
    gang(server, upload, "busy", str(shared_folder), "busy")
    path = "/trainyard/v1/projects/p/jobs/busy/metrics"
    cpu = {"metric": "ml.googleapis.com/training/cpu/utilization"}
    def used():
        series = server.request("GET", path, params=cpu).json().get("timeSeries", [])
        return {one["resource"]["labels"]["task_name"]: one for one in series}

    def worker_computes():
        worker = used().get("worker-replica-0", {"points": []})
        return worker if any(point["value"]["doubleValue"] > 0.1 for point in worker["points"]) else None
    worker = wait_for(worker_computes, lambda: f"{used()} {server.stderr()[-2000:]}")
    assert worker["resource"]["type"] == "cloudml_job" and worker["metric"]["type"] == cpu["metric"]
    replicas = {"master-replica-0", "worker-replica-0"}
    wait_for(lambda: set(used()) == replicas or None, lambda: f"{used()}")
    memory = server.request("GET", path, params={"metric": "ml.googleapis.com/training/memory/utilization",
                                                 "replica": "worker-replica-0"}).json()["timeSeries"]
    assert 0 < memory[0]["points"][0]["value"]["doubleValue"] < 1
    assert server.request("GET", path, params={"metric": "cpu"}).status_code == 400
    assert server.request("GET", path, params={"startTime": "today"}).status_code == 400
    assert server.request("GET", path, params={"startTime": "2100-01-01T00:00:00Z"}).json() == {}
    assert server.request("GET", "/trainyard/v1/projects/p/jobs/nosuch/metrics").status_code == 404

    text = server.request("GET", "/metrics")
    assert text.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    values = dict(line.rsplit(" ", 1) for line in text.text.splitlines() if not line.startswith("#"))
    assert values['trainyard_jobs{state="RUNNING"}'] == "1" and values["trainyard_supervisors"] == "2"
    assert float(values['trainyard_replica_memory_bytes{project="p",job="busy",task="worker-replica-0"}']) > 1 << 20
    assert float(values['trainyard_http_requests_total{code="4xx"}']) >= 3 and float(values["trainyard_log_bytes_total"]) > 100

    shown = server.trainyard("jobs", "describe", "busy", "--summarize")
    assert shown.returncode == 0 and "Resource Usage" in shown.stdout and "worker-replica-0" in shown.stdout, shown
    (shared_folder / "done").touch()
    assert server.wait("busy")["state"] == "SUCCEEDED"
    after = server.request("GET", path, params=cpu).json()["timeSeries"]
    assert {one["resource"]["labels"]["task_name"] for one in after} == replicas, "the history stays"
    server.stop()
    server.start()
    assert server.request("GET", path, params=cpu).json()["timeSeries"] == after, "over a restart of the server, too"
    assert 'trainyard_jobs{state="RUNNING"} 0' in server.request("GET", "/metrics").text
