"""kill -9 of the server: nothing acknowledged is lost, nothing runs twice, no log line is missing or doubled."""

import concurrent.futures
import pathlib
import re

from trainyard_server import kill, processes_with, starter_of, wait_for


def test_a_running_job_does_not_notice(server, upload):
    server.submit("survivor", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["tick", "600"])
    server.wait_for_text("survivor", "tick 0000020")
    before = {pid for pid, command in processes_with("-m probe.task tick 600")}
    assert before
    for _ in range(2):
        server.kill()
        assert {pid for pid, command in processes_with("-m probe.task tick 600")} == before
        server.start()
    job = server.wait("survivor")
    assert job["state"] == "SUCCEEDED", job
    texts = server.texts("survivor")
    assert [t for t in texts if t.startswith("tick ")] == [f"tick {n:07d}" for n in range(600)]
    assert len([t for t in texts if t.startswith("Running command: python3 -m probe.task")]) == 1
    for line in ("Job survivor is queued.", "Job is running.", "Job completed successfully."):
        assert texts.count(line) == 1, line


def test_a_job_that_ended_while_the_server_was_dead(server, upload):
    server.submit("alone", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["tick", "100", "print", "last"])
    server.wait_for_text("alone", "tick 0000005")
    server.kill()
    wait_for(lambda: True if not processes_with("-m probe.task tick 100") else None, lambda: "the replica still runs")
    server.start()
    job = server.wait("alone")
    assert job["state"] == "SUCCEEDED"
    texts = server.texts("alone")
    assert [t for t in texts if t.startswith("tick ")] == [f"tick {n:07d}" for n in range(100)]
    assert texts.count("last") == 1


def test_a_killed_supervisor_is_replaced(server, upload):
    server.submit("lost", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["print", "started", "tick", "500"])
    server.wait_for_text("lost", "started")
    supervisors = processes_with(f"{server.data}/attempts/")
    for pid, _ in supervisors:
        kill(pid)
    job = server.wait("lost")
    assert job["state"] == "SUCCEEDED", (job, server.texts("lost"))
    assert server.texts("lost").count("started") == 2


def test_what_starts_supervisors_is_replaced_and_ends_with_its_server(server, upload):
    """The starter holds nothing: jobs run on without it, the next job gets another one, and kill -9 of the server leaves none."""
    uri = upload(server, "probe")
    server.submit("kept", packageUris=[uri], pythonModule="probe.task", args=["tick", "300"])
    server.wait_for_text("kept", "tick 0000005")
    first = starter_of(server)
    kill(first)
    server.submit("next", packageUris=[uri], pythonModule="probe.task", args=["print", "here"])
    assert server.wait("next")["state"] == "SUCCEEDED", server.texts("next")
    second = starter_of(server)
    assert second != first
    server.kill()
    wait_for(lambda: True if not pathlib.Path(f"/proc/{second}").exists() else None, lambda: f"{second} lives on")
    server.start()
    assert server.wait("kept")["state"] == "SUCCEEDED", server.texts("kept")
    assert [t for t in server.texts("kept") if t.startswith("tick ")] == [f"tick {n:07d}" for n in range(300)]


def test_creates_that_were_answered_are_there_after_kill_9(server, upload):
    uri = upload(server, "probe")
    count = 500

    def create(number):
        return server.create(f"burst_{number}", packageUris=[uri], pythonModule="probe.task", args=["forever"],
                             scheduling={"priority": 0}).status_code

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(create, range(count)))
    server.kill()
    assert statuses == [200] * count
    server.start()
    found, token = set(), ""
    while True:
        page = server.request("GET", "/v1/projects/p/jobs", params={"pageSize": 100, "pageToken": token}).json()
        found |= {job["jobId"] for job in page.get("jobs", [])}
        token = page.get("nextPageToken", "")
        if not token:
            break
    assert found == {f"burst_{number}" for number in range(count)}
    names = [re.search(r"attempts/(\d+-[a-z]+-replica-\d+)-\d+", command) for _, command in processes_with(f"{server.data}/attempts/")]
    attempts = [match.group(0) for match in names if match]
    assert len({a.rsplit("-", 1)[0] for a in attempts}) == len(set(attempts)), "a replica has two attempts at once"
