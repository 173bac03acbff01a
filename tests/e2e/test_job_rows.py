"""Jobs as rows and as a stream of changes: what a page of jobs is made of."""

import json
import threading

import pytest
import requests

from trainyard_server import DEADLINE_S, wait_for

WATCH = "/trainyard/v1/projects/p/jobs:watch"


class Watch:
    """A client of jobs:watch."""

    def __init__(self, server, token=None, **query):
        headers = {"Authorization": "Bearer " + (token or server.token)} if token or server.token else {}
        self.response = requests.get(server.url + WATCH, params=query, headers=headers, stream=True, timeout=(10, DEADLINE_S))
        assert self.response.ok, self.response.text
        assert self.response.headers["Content-Type"] == "text/event-stream"
        self.changes, self.ids, self.ended = [], [], False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            for line in self.response.iter_lines(chunk_size=1):
                if line.startswith(b"id: "):
                    self.ids.append(line[4:].decode())
                elif line.startswith(b"data: "):
                    self.changes.append(json.loads(line[6:]))
        except (requests.RequestException, AttributeError):  # cut, or closed by us
            pass
        self.ended = True

    def states(self):
        """By job, in the order in which they were told; None: told of without its row."""
        states = {}
        for message in list(self.changes):
            for change in message.get("changes", []):
                states.setdefault(change["jobId"], []).append(change.get("job", {}).get("state"))
        return states

    def wait(self, condition):
        return wait_for(lambda: condition(self) or None, lambda: f"{self.states()} {self.changes[-3:]}")

    def close(self):
        self.response.raw._fp.fp.raw._sock.shutdown(2)
        self.thread.join(30)


def waiting(server, job_id, **more):
    """A job that stays in the queue: there is no such device."""
    return server.submit(job_id, packageUris=["gs://rows/x.tar.gz"], pythonModule="x", scaleTier="BASIC_TPU", **more)


@pytest.fixture
def server(make_server):
    server = make_server()
    response = server.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "rows"})
    assert response.ok, response.text
    server.upload("rows", "x.tar.gz", b"nothing")
    return server


def test_rows_counts_and_the_life_of_a_job(server):
    waiting(server, "waits")
    waiting(server, "ends", jobDir="gs://rows/out")
    server.cancel("ends")
    server.wait("ends")

    def ask(path, **query):
        response = server.request("GET", "/trainyard/v1/projects/p/" + path, params=query)
        return response.json() if response.ok else response.status_code
    rows = ask("jobs", pageSize=10)["jobs"]
    assert [row["jobId"] for row in rows] == ["ends", "waits"]
    assert rows[0]["state"] == "CANCELLED" and rows[0]["reason"] == "Cancelled by the user."
    assert rows[1]["state"] == "QUEUED" and "TPU" in rows[1]["reason"] and rows[1]["machines"] == "BASIC_TPU"
    assert ask("jobs", filter="state=CANCELLED", fields="jobs.jobId") == {"jobs": [{"jobId": "ends"}]}
    summary = ask("jobs:summarize")
    assert summary["jobs"] == "2" and summary["byState"] == {"CANCELLED": "1", "QUEUED": "1"}
    entries = ask("jobs/ends/events")["entries"]
    assert [entry["kind"] for entry in entries] == ["created", "cancel_requested", "ended"]
    assert entries[1]["detail"] == "Cancelled by the user." and entries[0]["text"].startswith("The job was created")
    assert [entry["kind"] for entry in ask("jobs/ends/events", afterSeq=2)["entries"]] == ["ended"]
    assert rows[1]["reason"] in ask("jobs/waits/events")["entries"][-1]["detail"]
    assert ask("jobs/none/events") == ask("jobs/ends/events", trial="3") == 404
    assert ask("jobs/ends/events", afterSeq="x") == ask("jobs", filter="(") == 400


def test_a_stream_goes_on_over_kill_9_and_loses_nothing(server):
    rows = server.request("GET", "/trainyard/v1/projects/p/jobs").json()
    watch = Watch(server, resumeToken=rows["resumeToken"])
    waiting(server, "before")
    watch.wait(lambda it: it.states().get("before"))
    server.kill()
    watch.wait(lambda it: it.ended)
    server.start()
    waiting(server, "after")
    server.cancel("before")
    again = Watch(server, resumeToken=watch.ids[-1])
    again.wait(lambda it: "after" in it.states() and it.states().get("before", [None])[-1] == "CANCELLED")
    # The token of the very beginning still knows all, each job once, as it is now.
    old = Watch(server, resumeToken=rows["resumeToken"])
    old.wait(lambda it: {"before", "after"} <= set(it.states()))
    assert old.states()["before"] == ["CANCELLED"]
    for follower in (again, old):
        follower.close()


def test_two_hundred_jobs_at_once_and_a_deleted_one(server):
    watch = Watch(server, filter="state=CANCELLED", logsOf=["j0", "j1"])
    with requests.Session() as session:
        for i in range(200):
            body = {"jobId": f"j{i}", "trainingInput": {"region": "us-central1", "packageUris": ["gs://rows/x.tar.gz"], "pythonModule": "x",
                                                        "scaleTier": "BASIC_TPU"}}
            assert server.request("POST", "/v1/projects/p/jobs", session=session, json=body).ok
        watch.wait(lambda it: len(it.states()) == 200)
        assert all(state is None for states in watch.states().values() for state in states), "none matches"
        server.cancel("j7")
        watch.wait(lambda it: it.states()["j7"][-1] == "CANCELLED")
        server.wait("j7")
        assert server.request("DELETE", "/trainyard/v1/projects/p/jobs/j7").ok
        watch.wait(lambda it: it.states()["j7"][-1] is None)
    followed = Watch(server, logsOf=["j0", "none"])
    followed.wait(lambda it: any("logs" in message for message in it.changes))
    assert {log["jobId"] for message in followed.changes for log in message.get("logs", [])} == {"j0"}
    for follower in (watch, followed):
        follower.close()


def test_what_a_stream_refuses(server):
    for query, status in (({"filter": "("}, 400), ({"resumeToken": "x"}, 400), ({"logsOf": [f"j{i}" for i in range(21)]}, 400),
                          ({"unknown": "x"}, 400)):
        response = server.request("GET", WATCH, params=query)
        assert response.status_code == status, (query, response.text)


def test_an_older_backup_says_list_again(server, tmp_path):
    before = server.request("GET", "/trainyard/v1/projects/p/jobs").json()["resumeToken"]
    backup, restored = str(tmp_path / "backup"), tmp_path / "restored"
    for words, data in ((("backup", backup), server.data), (("restore", backup), restored)):
        done = server.trainyard("admin", *words, "--data", str(data))
        assert not done.returncode, done.stderr
    server.stop()
    server.data = restored
    server.start()
    response = server.request("GET", WATCH, params={"resumeToken": before})
    assert response.status_code == 410, response.text
    assert "list the jobs again" in response.json()["error"]["message"]


def test_rights_are_asked_for_and_end_a_stream(make_server):
    server = make_server("--auth", "on")
    seer = server.token_for("user:seer@example.com", "roles/ml.viewer")
    stranger = server.token_for("user:stranger@example.com", "roles/ml.viewer", project="other")
    for path in ("jobs", "jobs:watch", "jobs:summarize"):
        assert server.request("GET", "/trainyard/v1/projects/p/" + path, token=stranger).status_code == 403
        assert server.request("GET", "/trainyard/v1/projects/p/" + path, token="").status_code == 401
    assert server.request("POST", "/trainyard/v1/projects/p/jobs:validate", token=seer, json={}).status_code == 403
    watch = Watch(server, token=seer)
    watch.wait(lambda it: it.changes)
    body = {"policy": {"bindings": []}}
    assert server.request("POST", "/v1/projects/p:setIamPolicy", json=body).ok
    assert server.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "rows"}).ok
    server.upload("rows", "x.tar.gz", b"nothing")
    server.submit("j", packageUris=["gs://rows/x.tar.gz"], pythonModule="x", scaleTier="BASIC_TPU")
    watch.wait(lambda it: it.ended)
    assert "j" not in watch.states()


YAML = """
jobId: from_yaml
labels: {team: x}
trainingInput:
  scaleTier: custom
  masterType: n1-standard-4
  region: us-central1
  pythonModule: x
  packageUris: gs://rows/none.tar.gz
  runtimeVersion: "2.11"
  jobDir: gs://not-yet/out
"""


def test_validate_says_all_and_makes_nothing(server):
    def validate(body, content_type="application/json"):
        response = server.request("POST", "/trainyard/v1/projects/p/jobs:validate", data=body, headers={"Content-Type": content_type})
        assert response.ok, response.text
        check = response.json()
        return [violation.get("field") for violation in check.get("violations", [])], check
    bad = {"jobId": "9", "trainingInput": {"region": "nowhere", "packageUris": ["gs://rows/x"], "pythonModule": "x",
                                           "scheduling": {"priority": 2000}}}
    assert validate(json.dumps(bad))[0] == ["job.job_id", "region", "scheduling.priority"]
    fields, check = validate(YAML, "application/yaml")
    assert "package_uris" in fields and check["job"]["trainingInput"]["masterType"] == "n1-standard-4"
    assert check["job"]["trainingInput"]["scaleTier"] == "CUSTOM", "in any case, and shown in capitals"
    assert any("gs://not-yet" in note for note in check["notes"])
    fields, check = validate(YAML.replace('"2.11"', "2.10"), "application/yaml")
    assert fields == ["package_uris"] and check["job"]["trainingInput"]["runtimeVersion"] == "2.10", "the text that is written"
    assert validate(YAML.replace('"2.11"', "yes"), "application/yaml")[0] == ["trainingInput.runtimeVersion"]
    assert "line 3" in validate("a: 1\n\n]", "application/yaml")[1]["violations"][0]["description"]
    assert validate('{"jobId": "a", "nonsense": 1}')[1]["violations"]
    assert server.request("GET", "/storage/v1/b/not-yet").status_code == 404
    assert server.request("GET", "/v1/projects/p/jobs/from_yaml").status_code == 404
    response = server.request("POST", "/trainyard/v1/projects/p/jobs:validate", data="jobId: a", headers={"Content-Type": "text/plain"})
    assert response.status_code == 400
