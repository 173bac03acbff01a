"""Scalars, images and texts of jobs, read from the event files that frameworks wrote."""

import json
import math
import shlex
import struct
import zlib

import pytest

from trainyard_server import ROOT, wait_for

FILES = ROOT / "src/rules/measurement/testing/event_files"
JOBS = "/trainyard/v1/projects/p/jobs/"
VIEWER = ("roles/ml.viewer",)


@pytest.fixture
def server(make_server):
    server = make_server("--auth", "on")
    assert server.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "out"}).ok
    return server


def submit(server, job_id, **more):
    """What its program would write is uploaded by the test."""
    package = server.upload("out", "trainer.tar.gz", b"not a package")
    server.submit(job_id, packageUris=[package], pythonModule="trainer.task", **more)


def put(server, name, sample):
    server.upload("out", name, (FILES / sample).read_bytes())


def query(server, body, **options):
    return server.request("POST", "/trainyard/v1/projects/p/scalars:query", json=body, **options)


def crc32c(data):
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(content):
    length = struct.pack("<Q", len(content))
    return length + crc32c(length) + content + crc32c(content)


def field(number, content):
    """Of protobuf, bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


def event(tag, step, value):
    """`value`: an encoded field of Summary.Value."""
    return record(b"\x09" + struct.pack("<d", 1.7e9 + step) + b"\x10" + bytes([step]) + field(5, field(1, field(1, tag) + value)))


def scalar(value):
    return b"\x15" + struct.pack("<f", value)


def test_scalars_of_every_framework(server):
    submit(server, "j", jobDir="gs://out/j")
    listed = server.request("GET", JOBS + "j/scalars").json()
    assert listed == {"places": ["gs://out/j"], "note": "There are no event files (*.tfevents.*) below gs://out/j/ yet."}
    put(server, "j/train/events.out.tfevents.1", "keras3.tfevents.train")
    put(server, "j/v1/events.out.tfevents.1", "tf1.tfevents.image")
    put(server, "j/v2/events.out.tfevents.1", "tf2.tfevents.image_text")
    put(server, "j/torch/events.out.tfevents.1", "torch.tfevents.image_text")
    listed = wait_for_items(server, "j", 8)
    names = {(item["name"].get("run", ""), item["name"]["tag"]): item for item in listed["items"]}
    assert {("train", "epoch_loss"), ("v1", "loss"), ("v1", "after"), ("v2", "loss"), ("torch", "loss/train"), ("torch", "new")} <= set(names)
    assert names["torch", "loss/train"]["points"] == "3" and names["torch", "loss/train"].get("lastValue", 0) == 0
    curves = query(server, {"names": [{"jobId": "j", "run": "torch", "tag": "new"}, {"jobId": "j", "tag": "absent"},
                                      {"jobId": "absent", "tag": "new"}]}).json()["curves"]
    assert curves[0]["steps"] == [0, 1, 2] and curves[0]["values"] == [0, 0.5, 1] and len(curves[0]["times"]) == 3
    assert [set(curve) for curve in curves[1:]] == [{"name"}, {"name"}]


def wait_for_items(server, job_id, count):
    return wait_for(lambda: (lambda listed: listed if len(listed.get("items", [])) >= count else None)(
        server.request("GET", f"{JOBS}{job_id}/scalars").json()), lambda: server.request("GET", f"{JOBS}{job_id}/scalars").text)


def test_a_growing_file_and_numbers_that_are_none(server):
    submit(server, "j", jobDir="gs://out/j")
    name = {"jobId": "j", "tag": "loss"}
    written = b""
    for step, value in enumerate((1.0, math.nan, math.inf, -math.inf)):
        written += event(b"loss", step, scalar(value))
        server.upload("out", "j/events.out.tfevents.1", written)
        wait_for_points(server, name, step + 1)
    (curve,) = query(server, {"names": [name]}).json()["curves"]
    assert curve["values"] == [1, "NaN", "Infinity", "-Infinity"] and curve["steps"] == [0, 1, 2, 3] and curve["points"] == "4"
    (part,) = query(server, {"names": [name], "axis": "TIME", "from": 1.7e9 + 1, "to": 1.7e9 + 2}).json()["curves"]
    assert part["steps"] == [1, 2]
    for body, field in (({}, "names"), ({"names": [name], "pointsMax": 1}, "points_max"), ({"names": [name], "from": 2, "to": 1}, "to"),
                        ({"names": [name], "axis": "SIDEWAYS"}, "axis")):
        refused = query(server, body)
        assert refused.status_code == 400 and field in refused.text, refused.text


def wait_for_points(server, name, count):
    wait_for(lambda: query(server, {"names": [name]}).json()["curves"][0].get("points") == str(count) or None, lambda: f"not {count} points")


def test_images_and_texts(server):
    submit(server, "j", jobDir="gs://out/j")
    put(server, "j/train/events.out.tfevents.1", "tf2.tfevents.image_text")
    server.upload("out", "j/bad/events.out.tfevents.1", event(b"bad", 1, field(4, field(4, b"<svg onload='alert(1)'></svg>"))))
    wait_for_items(server, "j", 1)
    items = server.request("GET", JOBS + "j/summaries").json()["items"]
    images = [item for item in items if item.get("image") and item["run"] == "train"]
    texts = [item for item in items if "text" in item]
    assert [(image.get("step", 0), image["width"], image["height"]) for image in images] == [(2, 24, 16), (1, 24, 16), (0, 24, 16)]
    assert [text["text"] for text in texts] == [f"# step {step}\nA text with *marks* and é" for step in (2, 1, 0)]
    image = server.request("GET", images[0]["uri"])
    assert image.headers["Content-Type"] == "image/png" and image.headers["X-Content-Type-Options"] == "nosniff"
    assert image.headers["Content-Security-Policy"] == "sandbox"
    position = image.content.index(b"IDAT") - 4
    length = int.from_bytes(image.content[position:position + 4], "big")
    assert len(zlib.decompress(image.content[position + 8:position + 8 + length])) == 16 * (24 * 3 + 1)
    text = server.request("GET", texts[0]["uri"])
    assert text.headers["Content-Type"] == "text/plain; charset=utf-8" and text.content.decode() == texts[0]["text"]
    (bad,) = [item for item in items if item["run"] == "bad"]
    refused = server.request("GET", bad["uri"])
    assert refused.status_code == 400 and "not a PNG" in refused.text, refused.text
    for path, status in (("?tag=samples&step=9", 404), ("?tag=samples&step=x", 400), ("?step=1", 400)):
        assert server.request("GET", JOBS + "j/summaries:read" + path).status_code == status, path


def test_why_there_is_nothing(server):
    submit(server, "none")
    listed = server.request("GET", JOBS + "none/scalars").json()
    assert "no job-dir" in listed["note"] and "items" not in listed
    put(server, "old/events.out.tfevents.1", "keras3.tfevents.train")
    assert server.request("GET", JOBS + "absent/scalars").status_code == 404
    assert server.request("GET", JOBS + "none/summaries").json() == {}


def reports(*values):
    """Words for the probe: the file as cloudml-hypertune writes it, all of it with each report."""
    lines = "".join(json.dumps({"timestamp": 1.7e9 + step, "trial": "0", tag: str(value), "global_step": str(step), "checkpoint_path": ""},
                               sort_keys=True) + "\n" for tag, step, value in values)
    return ["shell", f"mkdir -p /tmp/hypertune && printf %s {shlex.quote(lines)} > /tmp/hypertune/output.metrics"]


def hypertune_curves(server, job_id, tags=("acc", "loss")):
    answer = query(server, {"names": [{"jobId": job_id, "tag": tag, "hypertune": True} for tag in tags]}).json()
    return {curve["name"]["tag"]: list(zip(curve["steps"], curve["values"])) for curve in answer["curves"] if curve.get("steps")}


def test_every_tag_that_an_ordinary_job_reports(make_server, upload, shared_folder):
    server = make_server()
    go = shared_folder / "go"
    first = [("acc", 1, 0.25), ("loss", 1, 4.0)]
    server.submit("j", packageUris=[upload(server, "probe")], pythonModule="probe.task",
                  args=[*reports(*first), "await", str(go), "1", *reports(*first, ("acc", 2, 0.5))])
    known = {"acc": [(1, 0.25)], "loss": [(1, 4)]}
    wait_for(lambda: hypertune_curves(server, "j") == known or None, lambda: f"{hypertune_curves(server, 'j')} {server.texts('j')}")
    server.kill()
    server.start()
    assert hypertune_curves(server, "j") == known
    go.write_text("x")
    assert server.wait("j")["state"] == "SUCCEEDED", server.texts("j")
    assert hypertune_curves(server, "j") == {**known, "acc": [(1, 0.25), (2, 0.5)]}
    listed = server.request("GET", JOBS + "j/scalars").json()
    assert [item["name"] for item in listed["items"]] == [{"jobId": "j", "tag": tag, "hypertune": True} for tag in ("acc", "loss")]
    (row,) = server.request("GET", "/trainyard/v1/projects/p/jobs").json()["jobs"]
    assert row["metric"] == {"tag": "acc", "value": 0.5}
    server.kill()
    server.start()
    assert len(hypertune_curves(server, "j")["acc"]) == 2


def test_a_program_logs_numbers_without_installing_anything(make_server, upload):
    server = make_server()
    program = "import trainyard\nfor epoch in range(3): trainyard.log(loss=1 / (epoch + 1), acc=epoch / 4)"
    server.submit("j", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["shell", f"python3 -c {shlex.quote(program)}"])
    assert server.wait("j")["state"] == "SUCCEEDED", server.texts("j")
    assert hypertune_curves(server, "j") == {"acc": [(0, 0), (1, 0.25), (2, 0.5)], "loss": [(0, 1), (1, 0.5), (2, pytest.approx(1 / 3))]}


def test_a_trial_reports_other_tags_beside_its_metric(make_server, upload):
    server = make_server()
    server.submit("t", packageUris=[upload(server, "tuned")], pythonModule="tuned.task", args=["--silent", "1"],
                  hyperparameters={"goal": "MAXIMIZE", "maxTrials": 1, "hyperparameterMetricTag": "acc",
                                   "params": [{"parameterName": "x", "type": "DOUBLE", "minValue": 0, "maxValue": 1}]})
    server.wait("t")
    (item,) = wait_for_items(server, "t", 1)["items"]
    assert item["name"] == {"jobId": "t", "trialId": "1", "tag": "another", "hypertune": True} and item["points"] == "1"


def test_who_may_see_a_job_may_see_its_curves(server):
    submit(server, "j", jobDir="gs://out/j")
    put(server, "j/events.out.tfevents.1", "torch.tfevents.image_text")
    wait_for_items(server, "j", 2)
    viewer = server.token_for("user:ann@example.com", *VIEWER)
    other = server.token_for("user:bob@example.com", *VIEWER, project="other")
    name = {"jobId": "j", "tag": "new"}
    assert query(server, {"names": [name]}, token=viewer).json()["curves"][0]["points"] == "3"
    assert query(server, {"names": [name]}, token=other).json()["curves"] == [{"name": name}]
    for what in ("scalars", "summaries", "summaries:read?tag=pic&step=1"):
        assert server.request("GET", JOBS + "j/" + what, token=viewer).status_code == 200
        assert server.request("GET", JOBS + "j/" + what, token=other).status_code == 404
        assert server.request("GET", JOBS + "j/" + what, token="").status_code == 401


def test_event_files_that_the_job_may_not_read(server):
    """Who may create objects somewhere may name it as a job-dir, and must not see what others have there."""
    assert server.request("POST", "/storage/v1/b", params={"project": "other"}, json={"name": "theirs"}).ok
    submit(server, "j", jobDir="gs://theirs/j")
    server.upload("theirs", "j/events.out.tfevents.1", event(b"loss", 1, scalar(1)))
    account = server.request("GET", "/v1/projects/p:getConfig").json()["serviceAccount"]
    listed = server.request("GET", JOBS + "j/scalars").json()
    assert "items" not in listed and f"The job's account {account} may not read the job-dir gs://theirs/j" in listed["note"], listed
    assert server.request("GET", JOBS + "j/summaries").json() == {}
    name = {"jobId": "j", "tag": "loss"}
    assert query(server, {"names": [name]}).json()["curves"] == [{"name": name}]
    policies = {"bindings": [{"role": "roles/storage.objectViewer", "members": ["serviceAccount:" + account]}]}
    assert server.request("PUT", "/storage/v1/b/theirs/iam", json=policies).ok
    wait_for_items(server, "j", 1)
    assert server.request("PUT", "/storage/v1/b/theirs/iam", json={"bindings": []}).ok
    assert query(server, {"names": [name]}).json()["curves"] == [{"name": name}]
