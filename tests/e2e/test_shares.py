"""Several projects on one machine: who goes first, what quotas say, and what `trainyard top` shows."""

import json
import os
import pty
import re
import subprocess

import pytest

from process_output import DEADLINE_S
from trainyard_server import PROGRAM, wait_for

ONE_T4 = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4",
          "masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "1"}}}


@pytest.fixture
def submit(upload):
    def submit(server, project, job_id, *args, refused=None, **more):
        body = {"jobId": job_id, "trainingInput": {"region": "us-central1", "packageUris": [upload(server, "probe")], "pythonModule": "probe.task",
                                                   "args": list(args), **more}}
        response = server.request("POST", f"/v1/projects/{project}/jobs", json=body)
        assert response.status_code == (refused or 200), response.text
        return response.json()
    return submit


def job(server, project, job_id):
    response = server.request("GET", f"/v1/projects/{project}/jobs/{job_id}")
    assert response.ok, response.text
    return response.json()


def waiting(server, project, job_id):
    response = server.request("GET", f"/trainyard/v1/projects/{project}/jobs/{job_id}")
    assert response.ok, response.text
    return response.json().get("waiting", {})


def wait_for_job(server, project, job_id, wanted):
    return wait_for(lambda: (lambda found: found if wanted(found) else None)(job(server, project, job_id)),
                    lambda: f"{job_id}: {job(server, project, job_id)} {waiting(server, project, job_id)} {server.stderr()[-2000:]}")


def wait_for_reason(server, project, job_id, text):
    return wait_for(lambda: (lambda found: found if text in found.get("reason", "") else None)(waiting(server, project, job_id)),
                    lambda: f"{job_id}: {waiting(server, project, job_id)}")


def cancel(server, project, job_id):
    assert server.request("POST", f"/v1/projects/{project}/jobs/{job_id}:cancel").ok


def usage(server):
    response = server.request("GET", "/trainyard/v1/usage")
    assert response.ok, response.text
    return response.json()


def parts(server):
    return {project["project"]: project.get("share", 0) for project in usage(server).get("projects", [])}


def on_a_terminal(server, *words):
    """What the command paints until q is typed."""
    leader, follower = pty.openpty()
    command = subprocess.Popen([PROGRAM, *words], stdin=follower, stdout=follower, stderr=follower,
                               env={**os.environ, "TRAINYARD_SERVER": server.url, "TERM": "xterm"})
    os.close(follower)
    painted = b""
    try:
        while b"Press q or Ctrl-C to quit." not in painted:
            painted += os.read(leader, 4096)
        os.write(leader, b"q")
        assert command.wait(DEADLINE_S) == 0
    finally:
        command.kill()
        command.wait()
        os.close(leader)
    return painted.decode()


def test_two_projects_share_one_gpu_by_what_they_used(make_server, submit):
    server = make_server("--accelerators", "nvidia-tesla-t4=1", "--quota", "project:b:gpus=4")
    submit(server, "a", "hog", "forever", **ONE_T4)
    wait_for_job(server, "a", "hog", lambda found: found["state"] == "RUNNING")
    for project, job_id in (("a", "a_1"), ("a", "a_2"), ("b", "b_1"), ("b", "b_2")):
        submit(server, project, job_id, "print", "here", **ONE_T4)
    wait_for_reason(server, "b", "b_1", "Waiting for 1 NVIDIA_TESLA_T4: 1 of 1 are in use by hog.")
    reason = wait_for_reason(server, "a", "a_1", "Next is project b")["reason"]
    # Of which it used more depends on how many CPUs this machine has.
    assert re.fullmatch(r"Waiting for its turn: 1 job before it, b_1 is next\. Next is project b: it used 0 % of the recent "
                        r"[GC]PU time, yours 100 %\.", reason), reason
    positions = {one["jobId"]: one["position"] for one in usage(server)["jobs"] if "position" in one}
    assert positions == {"b_1": "1", "a_1": "2", "b_2": "3", "a_2": "4"}, "those who came later go first"

    shown = server.trainyard("top", "--format=json")
    report = json.loads(shown.stdout)
    assert [one["jobId"] for one in report["jobs"]] == ["hog", "b_1", "a_1", "b_2", "a_2"]
    assert report["jobs"][0]["devices"] == [{"index": "0", "jobId": "hog", "project": "a", "type": "nvidia-tesla-t4"}]
    assert report["machine"]["devices"] == [{"index": "0", "jobId": "hog", "project": "a", "type": "nvidia-tesla-t4"}]
    assert report["machine"]["cpusHeld"] == 4 and report["machine"]["cpus"] >= 1
    printed = server.trainyard("top").stdout
    assert "nvidia-tesla-t4 1 of 1" in printed.splitlines()[0]
    rows = {line.split()[0]: line for line in printed.splitlines() if line.strip()}
    assert "RUNNING" in rows["hog"] and "nvidia-tesla-t4 0" in rows["hog"]
    assert rows["a"].split()[1:3] == ["1", "2"], "running, queued"
    assert "gpus=4" in rows["b"]
    painted = on_a_terminal(server, "top")
    assert "\x1b[2J" in painted and "b_1" in painted

    cancel(server, "a", "hog")
    started = {}
    for project, job_id in (("a", "a_1"), ("a", "a_2"), ("b", "b_1"), ("b", "b_2")):
        ended = wait_for_job(server, project, job_id, lambda found: "endTime" in found)
        assert ended["state"] == "SUCCEEDED", ended
        started[job_id] = ended["startTime"]
    assert min(started, key=lambda job_id: started[job_id]) == "b_1", started

    before = parts(server)
    assert before["a"] > 0 and before["b"] > 0
    server.stop()
    server.start()
    assert parts(server) == pytest.approx(before, abs=0.02), "kept over a restart"
    server.kill()
    (server.data / "project-use.json").unlink()
    server.start()
    assert parts(server) == pytest.approx(before, abs=0.1), "taken from the jobs' records"


def test_quotas_hold_back_or_refuse_and_say_why(make_server, submit):
    server = make_server("--project", "p", "--quota", "project:p:jobs=1", "--quota", "project:*:unfinished-jobs=2",
                         "--quota", "project:p:bucket-bytes=200kB", "--quota", "project:p:log-bytes=1GB", "--quota", "project:q:gpus=1")
    submit(server, "p", "first", "forever")
    wait_for_job(server, "p", "first", lambda found: found["state"] == "RUNNING")
    submit(server, "p", "second", "print", "here")
    found = wait_for_reason(server, "p", "second", "Waiting for 1 job")
    assert found["reason"] == "Waiting for 1 job: 1 of the 1 that the quota project:p:jobs=1 allows project p are in use by first."
    assert found["unblock"] == "It starts when first has ended."
    error = submit(server, "p", "third", "print", "here", refused=429)["error"]
    description = "The request for 1 job exceeds the allowed maximum of 2 unfinished jobs. first, second have not ended."
    assert error["status"] == "RESOURCE_EXHAUSTED"
    assert error["message"] == (f"Quota failure for project p. {description} The server's operator sets it: trainyard serve --quota "
                                "project:*:unfinished-jobs=2.")
    assert error["details"] == [{"@type": "type.googleapis.com/google.rpc.QuotaFailure",
                                 "violations": [{"subject": "project:p", "description": description}]}]
    submit(server, "q", "other", "print", "here")  # has quotas of its own
    two = {**ONE_T4, "masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "2"}}}
    error = submit(server, "q", "large", "print", "here", refused=429, **two)["error"]
    assert "The request for 2 GPUs exceeds the allowed maximum of 1 GPU." in error["message"]
    cancel(server, "p", "first")
    assert wait_for_job(server, "p", "second", lambda found: "endTime" in found)["state"] == "SUCCEEDED"

    response = server.request("POST", "/upload/storage/v1/b/packages/o", params={"uploadType": "media", "name": "big"}, data=b"x" * 250_000)
    assert response.status_code == 507 and "may hold 200000" in response.text, response.text
    (server.data / "buckets/packages/by_a_program").write_bytes(b"x" * 250_000)
    server.kill()
    server.start()  # measures
    wait_for(lambda: True if any(int(one.get("bucketBytes", 0)) > 250_000 for one in usage(server).get("projects", [])) else None,
             lambda: str(usage(server)))
    body = {"jobId": "fourth", "trainingInput": {"region": "us-central1", "packageUris": ["gs://packages/probe.tar.gz"],
                                                 "pythonModule": "probe.task"}}
    response = server.request("POST", "/v1/projects/p/jobs", json=body)
    assert response.status_code == 429 and "of objects in buckets" in response.text, response.text


def test_a_wrong_quota_is_named_at_the_start(tmp_path):
    for flags, text in ((("--quota", "project:p:gpu=4"), "'gpu' is not one of gpus, jobs, unfinished-jobs, bucket-bytes, log-bytes or a type "
                         "such as nvidia-tesla-t4; did you mean 'gpus'?"),
                        (("--project-weight", "p=0"), "'p=0' has no weight between 0.001 and 1000")):
        refused = subprocess.run([PROGRAM, "serve", "--data", tmp_path / "data", *flags], capture_output=True, text=True, timeout=DEADLINE_S)
        assert refused.returncode == 2
        assert flags[0] in refused.stderr and text in refused.stderr
