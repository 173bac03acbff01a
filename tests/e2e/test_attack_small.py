"""Small attacks: what reaches a terminal, a configuration that eats the CLI, an image layer of nothing, and a job whose log would fill
the disk."""

import gzip
import io
import json
import os
import pathlib
import pty
import re
import subprocess
import tarfile
import time

import pytest

from process_output import Output
from trainyard_server import DEADLINE_S, PROGRAM

# A colour, a title, an answer that the terminal would type, the C1 form of ESC [, a right-to-left override, back.
HOSTILE = "loss \x1b[31m\x1b]0;owned\x07\x1b[6n\x9b2J \u202egnp.exe\u2069 a\bb"
VISIBLE = (r"loss \033[31m\033]0;owned\a\033[6n\302\2332J \342\200\256gnp.exe\342\201\251 a\bb")


def on_terminal(server, *words, stderr=None):
    """(What a terminal gets that is the program's stdout, and stderr too unless that is redirected; exit status)."""
    parent, child = pty.openpty()
    environment = {**os.environ, "TRAINYARD_SERVER": server.url, "CLOUDSDK_CORE_PROJECT": "p", "NO_COLOR": "1",
                   "CLOUDSDK_ML_ENGINE_POLLING_INTERVAL": "1"}
    process = subprocess.Popen([PROGRAM, *words], stdin=child, stdout=child, stderr=stderr or child, env=environment,
                               start_new_session=True)
    os.close(child)
    seen = Output(parent).rest()
    os.close(parent)
    return seen, process.wait(30)


def in_pipe(server, *words):
    environment = {**os.environ, "TRAINYARD_SERVER": server.url, "CLOUDSDK_CORE_PROJECT": "p"}
    return subprocess.run([PROGRAM, *words], capture_output=True, env=environment, timeout=DEADLINE_S)


def assert_harmless(seen):
    """Nothing that a terminal obeys, but tabs and line ends (the terminal's own driver makes them \\r\\n)."""
    text = seen.decode().replace("\r\n", "\n")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), seen


def test_log_lines_are_shown_not_obeyed(server, upload):
    package = upload(server, "probe")
    server.submit("loud", packageUris=[package], pythonModule="probe.task", args=["print", HOSTILE, "stderr", HOSTILE, "exit", "0"])
    server.wait("loud")
    seen, status = on_terminal(server, "jobs", "stream-logs", "loud")
    shown = re.sub(r"\\033\[[0-9;]*[A-Za-z]", "", VISIBLE)  # of a log the cursor's movements and colours are left out
    assert status == 0 and shown.encode() in seen, [line for line in seen.splitlines() if b"loss" in line]
    assert_harmless(seen)
    piped = in_pipe(server, "jobs", "stream-logs", "loud")
    assert HOSTILE.encode() in piped.stdout + piped.stderr, "a pipe gets the bytes"


def test_answers_and_refusals_are_shown_not_obeyed(server, upload):
    """A job's description, what the CLI says of its own arguments, and the server's words about them."""
    server.submit("named", packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["print", HOSTILE])
    for words in (["jobs", "describe", "named"], ["jobs", "describe", "named", "--format", "json"], ["jobs", "describe", HOSTILE],
                  ["jobs", "list", "--filter", HOSTILE], [HOSTILE], ["jobs", "cancel", HOSTILE], ["storage", "ls", HOSTILE],
                  ["jobs", "list", "--format", "value(" + HOSTILE + ")"]):
        seen, _ = on_terminal(server, *words)
        assert seen
        assert_harmless(seen)


def test_objects_and_their_names_are_shown_not_obeyed(server):
    name = "a\x1b[31m\u202eb"
    server.upload("bucket", name, HOSTILE.encode() + b"\rover\n\xff\xfe\xe2\x82\n")
    seen, status = on_terminal(server, "storage", "ls", "gs://bucket/")
    assert status == 0 and rb"gs://bucket/a\033[31m\342\200\256b" in seen, seen
    assert_harmless(seen)
    seen, status = on_terminal(server, "storage", "cat", "gs://bucket/**")
    assert status == 0 and VISIBLE.encode() + rb"\rover" in seen and rb"\377\376\342\202" in seen, seen
    assert_harmless(seen)
    assert in_pipe(server, "storage", "ls", "gs://bucket/").stdout == f"gs://bucket/{name}\n".encode()
    assert in_pipe(server, "storage", "cat", "gs://bucket/**").stdout == HOSTILE.encode() + b"\rover\n\xff\xfe\xe2\x82\n"


def test_stdout_in_a_pipe_and_stderr_on_a_terminal(server):
    """Each stream by itself: the remark of `rm` on stderr, here into a pipe."""
    server.upload("bucket", "x\x1b[31m", b"")
    seen = in_pipe(server, "storage", "rm", "gs://bucket/**")
    assert seen.stderr == b"Removing gs://bucket/x\x1b[31m...\n"


def laughs():
    text = "a0: &a0 ha\n"
    for level in range(1, 10):
        text += f"a{level}: &a{level} [{','.join([f'*a{level - 1}'] * 10)}]\n"
    return text


CONFIGURATIONS = {
    "self": ("a: &x [*x]\n", "line 1, column 8: an alias stands within what it refers to"),
    "merge": ("labels: &x\n  <<: *x\n", "line 2, column 7: an alias stands within what it refers to"),
    "laughs": (laughs(), "line 6, column 38: the document has more than 100000 values, with aliases written out"),
    "deep": ("[" * 50_000, "line 1, column 51: lists and mappings are nested more than 100 deep"),
    "tower": ("a0: &a0 x\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 5000)),
              "line 101, column 14: lists and mappings are nested more than 100 deep"),
    "huge": ("a: " + "x" * (2 << 20), "a text has more than 1 MiB"),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_is_refused_not_swallowed(server, tmp_path, name):
    text, reason = CONFIGURATIONS[name]
    config = tmp_path / "config.yaml"
    config.write_text(text)
    began = time.monotonic()
    done = server.trainyard("jobs", "submit", "training", "j", "--region", "us-central1", "--config", str(config))
    assert done.returncode == 1, done.stderr[-500:]
    assert f"Failed to parse YAML from [{config}]: " in done.stderr and reason in done.stderr, done.stderr[-500:]
    assert time.monotonic() - began < 20


def layer_of_nothing(bytes_in_file, files=1):
    """(gzip of) a tar with files of zeros; members of gzip, one behind the other."""
    block = bytes(64 << 20)
    packed = gzip.compress(block, 9, mtime=0)
    blob = b""
    for number in range(files):
        info = tarfile.TarInfo(f"nothing{number}")
        info.size = bytes_in_file
        blob += gzip.compress(info.tobuf(tarfile.PAX_FORMAT), mtime=0) + packed * (bytes_in_file // len(block))
    return blob + gzip.compress(bytes(1024), mtime=0)


def sparse_layer(size):
    """A tar whose one file is a hole of `size` bytes and one byte: GNU's sparse format 1.0."""
    record = lambda name, value: next(  # noqa: E731
        line for line in (f"{length} {name}={value}\n" for length in range(200)) if len(line) == int(line.split()[0]))
    pax = (record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0") + record("GNU.sparse.name", "hole")
           + record("GNU.sparse.realsize", str(size))).encode()
    head = tarfile.TarInfo("pax")
    head.type, head.size = b"x", len(pax)
    data = f"1\n{size - 1}\n1\n".encode().ljust(512, b"\0") + b"x".ljust(512, b"\0")
    info = tarfile.TarInfo("GNUSparseFile.0/hole")
    info.size = 513
    return (head.tobuf(tarfile.USTAR_FORMAT) + pax.ljust(-(-len(pax) // 512) * 512, b"\0") + info.tobuf(tarfile.USTAR_FORMAT)
            + data + bytes(1024))


def many_entries(count):
    """A tar of empty files, compressed."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=6, mtime=0) as packed:
        for number in range(count):
            packed.write(tarfile.TarInfo(f"f{number}").tobuf(tarfile.USTAR_FORMAT))
        packed.write(bytes(1024))
    return out.getvalue()


def after_the_end():
    """A tar that has ended, and then a gigabyte and a half of zeros."""
    return gzip.compress(bytes(1024), mtime=0) + gzip.compress(bytes(64 << 20), 9, mtime=0) * 24


def image_of(images, name):
    manifest = json.loads(images.blob(images[name].digest))
    return manifest, json.loads(images.blob(manifest["config"]["digest"]))


@pytest.mark.parametrize("name,make", [
    ("zeros", lambda: layer_of_nothing(1536 << 20)),
    ("some-files", lambda: layer_of_nothing(256 << 20, 6)),
    ("sparse", lambda: gzip.compress(sparse_layer(3 << 30), mtime=0)),
    ("entries", lambda: many_entries(400_000)),
    ("after-the-end", after_the_end),
])
def test_a_layer_of_nothing_is_refused(tmp_path, images, name, make):
    blob = make()
    parent, config = image_of(images, "busybox")
    config["rootfs"]["diff_ids"].append("sha256:" + "0" * 64)  # it does not get as far as being compared
    layer = images.add(blob, "application/vnd.oci.image.layer.v1.tar+gzip")
    images.finish(f"bomb-{name}", config, [*parent["layers"], layer])
    data = tmp_path / "data"
    done = subprocess.run([PROGRAM, "images", "pull", images[f"bomb-{name}"].layout, "--data", str(data)], capture_output=True,
                          text=True, timeout=DEADLINE_S, env={**os.environ, "HOME": str(tmp_path)})
    assert done.returncode == 1, done
    figures = re.search(r"a layer of ([\d.]+ [kM]?B|\d+ bytes) unpacks to ([\d.]+ GB) or more, which is over 1\.1 GB and more than "
                        r"100 times its size: it is rejected; .*\(layer (sha256:[0-9a-f]{64})\)", done.stderr)
    assert figures and figures[3] == layer["digest"], done.stderr
    assert f"bomb-{name}" in done.stderr, "the image is named"
    left = [path for path in (data / "images").rglob("*") if path.name.startswith(("nothing", "hole", "f1"))]
    assert not left


def test_a_layer_that_is_large_for_its_size_is_not_refused_below_a_gigabyte(tmp_path, images):
    done = subprocess.run([PROGRAM, "images", "pull", images["large"].layout, "--data", str(tmp_path / "data")],
                          capture_output=True, text=True, timeout=DEADLINE_S, env={**os.environ, "HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr


def metric(server, name):
    text = server.request("GET", "/metrics").text
    return float(re.search(rf"^{name} (\S+)$", text, re.M)[1])


@pytest.mark.parametrize("flag", ["--job-logs-max-gb", "--replica-logs-max-gb"])
def test_a_log_has_a_limit_and_the_program_goes_on(make_server, upload, flag):
    server = make_server(flag, "0.001")
    package = upload(server, "probe")
    lines = 1_000_000  # 13 MB
    server.submit("chatty", packageUris=[package], pythonModule="probe.task",
                  args=["print", "first", "count", str(lines), "stderr", "last", "exit", "0"])
    assert server.wait("chatty")["state"] == "SUCCEEDED"
    texts = server.texts("chatty")
    kept = [text for text in texts if text.startswith("line ")]
    assert kept == [f"line {number:07d}" for number in range(len(kept))], "what is kept is the beginning, without holes"
    begins = [text for text in texts if "From here on, this replica's output is not stored" in text]
    assert len(begins) == 1 and flag in begins[0] and "0.001 GB" in begins[0], begins
    sums = [re.search(r"^(\d+) lines of this replica's output, (\d+) bytes, are not in this log: .*" + flag, text) for text in texts]
    figures = [found for found in sums if found]
    assert len(figures) == 1, texts[-10:]
    assert int(figures[0][1]) + len(kept) == lines + 1 and int(figures[0][2]) > 1_000_000
    assert "Task completed successfully." in texts and "Job completed successfully." in texts, texts[-5:]
    assert metric(server, "trainyard_log_bytes_dropped_total") == int(figures[0][2])


def test_a_job_that_fails_beyond_its_limit_is_still_explained(make_server, upload):
    server = make_server("--job-logs-max-gb", "0.001")
    package = upload(server, "probe")
    server.submit("fails", packageUris=[package], pythonModule="probe.task", args=["count", "200000", "raise", "the reason"])
    job = server.wait("fails")
    assert job["state"] == "FAILED" and "RuntimeError: the reason" in job["errorMessage"], job


def test_a_jobs_limit_holds_over_restarts_of_the_server(make_server, upload, shared_folder):
    server = make_server("--job-logs-max-gb", "0.001", "--replica-logs-max-gb", "0")
    package = upload(server, "probe")
    go = pathlib.Path(shared_folder) / "go"
    server.submit("long", packageUris=[package], pythonModule="probe.task",
                  args=["count", "200000", "print", "full", "await", str(go), "1", "count", "100", "exit", "0"])
    server.wait("long", lambda job: any("From here on" in text for text in server.texts("long")) or "endTime" in job)
    server.kill()
    server.start()
    go.write_text("x")
    assert server.wait("long")["state"] == "SUCCEEDED"
    texts = server.texts("long")
    assert texts.count("line 0000000") == 1, "what comes after the restart is not kept either"
    assert any("bytes, are not in this log: " in text for text in texts)


def test_what_held_stays_held(server, upload):
    """Control characters on their way into headers, labels and arguments; arguments that no program could be given."""
    package = upload(server, "probe")
    for args, reason in ((["a\0b"], "NUL"), (["x" * 70_000], "too long")):
        response = server.create("held", packageUris=[package], pythonModule="probe.task", args=args)
        assert response.status_code == 400 and reason in response.text, response.text[:500]
    body = {"jobId": "held", "labels": {"a": "\x1b[31m"},
            "trainingInput": {"region": "us-central1", "packageUris": [package], "pythonModule": "probe.task"}}
    assert server.request("POST", "/v1/projects/p/jobs", json=body).status_code == 400
    server.upload("bucket", "object", b"x")
    patched = server.request("PATCH", "/storage/v1/b/bucket/o/object",
                             json={"contentType": "text/plain\r\nX-Evil: 1", "metadata": {"a": "b\r\nX-Evil: 2"}})
    answer = server.request("GET", "/storage/v1/b/bucket/o/object", params={"alt": "media"})
    assert answer.ok and not any("evil" in name.lower() for name in answer.headers), (patched.status_code, answer.headers)
