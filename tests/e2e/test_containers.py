"""Containers: real images from a real registry, by an OCI runtime and by the API of an engine."""

import json
import os
import re
import shutil
import subprocess
import time

import pytest

from container_engines import leftovers, run_job, shell, submit_image
from trainyard_server import DEADLINE_S, kill, processes_with, wait_for

CLUSTER = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "2",
           "parameterServerType": "n1-standard-4", "parameterServerCount": "1"}

# Speaks storage v1 with what every replica is told, and the same files below /gcs.
GS_TRAINER = """
import json, os, sys, urllib.request
bucket, _, folder = sys.argv[sys.argv.index("--job-dir") + 1][5:].partition("/")
server = os.environ["STORAGE_EMULATOR_HOST"]
def call(method, path, data=None):
    return urllib.request.urlopen(urllib.request.Request(server + path, data, method=method), timeout=60).read()
call("POST", f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={folder}/by-http", b"written by http")
print("READ " + open(f"/gcs/{bucket}/{folder}/by-http").read())
with open(f"/gcs/{bucket}/{folder}/by-file", "w") as file:
    file.write("written to /gcs")
name = f"{folder}/by-file".replace("/", "%2F")
print("READ " + call("GET", f"/storage/v1/b/{bucket}/o/{name}?alt=media").decode())
"""

# Every replica serves its own name and asks all the others for theirs.
TALKERS = """
import http.server, json, os, socket, threading, time, urllib.request
spec = json.loads(os.environ["CLUSTER_SPEC"])
me = (spec["task"]["type"], spec["task"]["index"])
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(me).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body)
        if self.path.startswith("/done/") and self.path not in gone: gone.add(self.path); done.release()  # once it is answered
    def log_message(self, *words): pass
done, gone = threading.Semaphore(0), set()
host, port = spec["cluster"][me[0]][me[1]].split(":")
server = http.server.ThreadingHTTPServer(("0.0.0.0", int(port)), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
def ask(address, path="/"):
    while True:
        try: return json.load(urllib.request.urlopen("http://" + address + path, timeout=30))
        except Exception: time.sleep(0.05)
others = [(kind, i, address) for kind, addresses in sorted(spec["cluster"].items()) for i, address in enumerate(addresses)]
heard = [ask(address) for _, _, address in others]
print("HEARD " + json.dumps(heard), flush=True)
print("SPEC " + json.dumps(spec, sort_keys=True), flush=True)
for kind, i, address in others: ask(address, f"/done/{me}".replace(" ", ""))
for _ in others: done.acquire()
os._exit(0)  # without libgcc_s, which the image lacks, glibc aborts where threads end with the process
"""


@pytest.fixture(scope="module")
def server(container_server):
    return container_server


@pytest.fixture
def push(images, registry):
    return lambda name: registry.push(images[name])


def python_image(images, registry, name, program):
    if name not in images.made:
        images.derive("python", name, files={"/app/main.py": program}, cmd=["python3", "/app/main.py"])
    return registry.push(images[name])


def shown(server, job_id, prefix):
    """What /bin/show printed behind `prefix`, over and over."""
    return [text.removeprefix(prefix) for text in server.texts(job_id, "master-replica-0") if text.startswith(prefix)]


def test_a_shell_in_busybox(server, push):
    run_job(server, "hello", push("busybox"), master=shell("echo out; echo err >&2; exit 0"))
    texts = server.texts("hello", "master-replica-0")
    assert "out" in texts and "err" in texts
    severities = {e["jsonPayload"]["message"]: e["severity"] for e in server.log_entries("hello")}
    assert severities["out"] == "INFO" and severities["err"] == "ERROR"
    job = run_job(server, "one", push("busybox"), "FAILED", master=shell("exit 1"))
    assert "exited with a non-zero status of 1" in job["errorMessage"], job


CASES = {  # image, its masterConfig, the job's args -> the program's own argv
    "image": ("entrypoint-and-cmd", {}, [], "[/bin/show] [entry] [cmd] [two words]"),
    "args": ("entrypoint-and-cmd", {}, ["a", "b c", ""], "[/bin/show] [entry] [a] [b c] []"),
    "container_args": ("entrypoint-and-cmd", {"containerArgs": ["x y"]}, [], "[/bin/show] [entry] [x y]"),
    "command": ("entrypoint-and-cmd", {"containerCommand": ["/bin/show", "mine"]}, [], "[/bin/show] [mine]"),
    "both": ("entrypoint-and-cmd", {"containerCommand": ["/bin/show"], "containerArgs": ["1", "$HOME"]}, [],
             "[/bin/show] [1] [$HOME]"),
    "entrypoint_only": ("entrypoint-only", {}, [], "[/bin/show] [entry]"),
    "entrypoint_only_args": ("entrypoint-only", {}, ["z"], "[/bin/show] [entry] [z]"),
    "cmd_only": ("cmd-only", {}, [], "[/bin/show] [cmd]"),
}


def test_entrypoint_and_cmd(server, push):
    for name, (image, master, args, _) in CASES.items():
        submit_image(server, name, push(image), master, args=args)
    submit_image(server, "nothing", push("neither"))
    for name, (_, _, _, argv) in CASES.items():
        assert server.wait(name)["state"] == "SUCCEEDED", server.get(name).get("errorMessage")
        # sh tells the script's own path as $0: the words before are the interpreter's.
        assert shown(server, name, "args: ") == [argv], name
    job = server.wait("nothing")
    assert job["state"] == "FAILED" and "CMD" in job["errorMessage"], job


def test_what_the_image_says_of_its_program(server, push):
    run_job(server, "app", push("user"), jobDir="gs://out/app")
    assert shown(server, "app", "id: ") == ["1234:1235"]
    assert shown(server, "app", "pwd: ") == ["/home/app/new"]
    variables = dict(line.split("=", 1) for line in shown(server, "app", "env: ") if "=" in line)
    assert variables["FROM_IMAGE"] == "yes" and variables["PATH"] == "/bin", variables
    assert variables["CLOUD_ML_JOB_ID"] == "app" and json.loads(variables["CLUSTER_SPEC"])["task"]["type"] == "master"
    assert shown(server, "app", "args: ") == ["[/bin/show] [--job-dir] [gs://out/app]"]


def test_stop_signal(server, images, registry):
    images.derive("busybox", "stop-signal", stop_signal="SIGUSR1", cmd=[
        "/bin/sh", "-c", 'trap "echo asked; exit 0" USR1; trap "echo wrong" TERM; echo ready; while :; do sleep 0.1; done'])
    submit_image(server, "asked", registry.push(images["stop-signal"]))
    server.wait_for_text("asked", "ready")
    server.cancel("asked")
    assert server.wait("asked")["state"] == "CANCELLED"
    texts = server.texts("asked")
    assert "asked" in texts and "wrong" not in texts, texts


def test_a_program_without_signal_handlers_is_cancelled(server, push):
    """As process 1 it would not hear SIGTERM, and be waited for until the grace is over."""
    submit_image(server, "stubborn", push("stubborn"))
    server.wait_for_text("stubborn", "started")
    began = time.monotonic()
    server.cancel("stubborn")
    assert server.wait("stubborn")["state"] == "CANCELLED"
    assert time.monotonic() - began < 20, "the grace is 30 s"


def has_init():
    """Whether podman was installed with its init."""
    return any(shutil.which("catatonit", path=folder) for folder in (os.environ["PATH"], "/usr/libexec/podman", "/usr/lib/podman"))


def test_process_1(server, images, registry, way):
    """It is ours, but for an image that brings an init of its own; orphans are reaped, the program's status is the container's."""
    image = registry.push(images["busybox"])
    run_job(server, "orphans", image, master=shell(
        "for i in 1 2 3; do sh -c 'sleep 0.1 & exit'; done; sleep 0.5; echo me $$; "
        "echo zombies $(cat /proc/[0-9]*/status | grep -c zombie) of $(ls -d /proc/[0-9]* | wc -l); exit 0"))
    texts = server.texts("orphans", "master-replica-0")
    (me,) = [int(text.removeprefix("me ")) for text in texts if text.startswith("me ")]
    assert (me > 1) == (way.name == "oci" or has_init()), texts
    assert [text for text in texts if re.fullmatch("zombies 0 of [1-9][0-9]*", text)], texts
    job = run_job(server, "status", image, "FAILED", master=shell("exit 126"))
    assert "non-zero status of 126" in job["errorMessage"], job
    images.derive("busybox", "own-init", files={"/bin/tini": "#!/bin/sh\necho tini is $$\nexec \"$@\"\n"},
                  entrypoint=["/bin/tini"], cmd=["/bin/true"])
    run_job(server, "own_init", registry.push(images["own-init"]))
    assert "tini is 1" in server.texts("own_init"), server.texts("own_init")


STDERR = r"""
I0101 12:00:00.123456    77 gpu.cc:5] found
WARNING:root:careful
/app/t.py:3: UserWarning: odd
  warnings.warn('odd')
Traceback (most recent call last):
  File "/app/t.py", line 3, in <module>
KeyError: 'x'
last
"""


def test_severities_of_stderr(server, push):
    run_job(server, "severities", push("busybox"), master=shell(f"cat >&2 <<'END'{STDERR}END\nexit 0"))
    entries = [(e["severity"], e["jsonPayload"]["message"]) for e in server.log_entries("severities")
               if e["jsonPayload"].get("pathname") != "/runcloudml.py" and e["severity"] != "INFO" or e["jsonPayload"]["message"] == "found"]
    assert entries == [("INFO", "found"), ("WARNING", "WARNING:root:careful"),
                       ("WARNING", "/app/t.py:3: UserWarning: odd\n  warnings.warn('odd')"),
                       ("ERROR", 'Traceback (most recent call last):\n  File "/app/t.py", line 3, in <module>\nKeyError: \'x\''),
                       ("ERROR", "last")], entries


ENTRY_SCRIPT = """#!/bin/sh
set -e
mkdir -p /data /part
gcsfuse --implicit-dirs -o allow_other --key-file /key.json fused /data
cat /data/in.txt
echo written through gcsfuse > /data/out.txt
gcsfuse --only-dir=a/b fused /part && echo deep > /part/deep.txt
fusermount -u /part
echo "left $(ls -A /part | wc -l)"
gcsfuse fused /bin || echo "refused with $?"
gcsfuse --foreground fused /part &
until [ -L /part ]; do sleep 0.05; done
ls /part
kill $!
wait $! && test -d /part && test ! -L /part && echo over
"""


def test_an_entry_script_that_mounts_with_gcsfuse(server, images, registry):
    server.upload("fused", "in.txt", b"read through gcsfuse\n")
    images.derive("busybox", "gcsfuse", files={"/entry.sh": ENTRY_SCRIPT}, entrypoint=["/entry.sh"],
                  env=["PATH=/usr/local/bin:/bin"])
    run_job(server, "fused", registry.push(images["gcsfuse"]))
    texts = server.texts("fused", "master-replica-0")
    assert "gcsfuse: /data shows gs://fused (a link to /gcs/fused). File system has been successfully mounted." in texts, texts
    for text in ("read through gcsfuse", "fusermount: /part is an empty folder again", "left 0",
                 "gcsfuse: the mount point /bin is not empty", "refused with 1", "over"):
        assert text in texts, (text, texts)
    assert (server.data / "buckets/fused/out.txt").read_text() == "written through gcsfuse\n"
    assert (server.data / "buckets/fused/a/b/deep.txt").read_text() == "deep\n"


def test_forty_layers(server, push):
    run_job(server, "layers", push("layers40"))
    texts = server.texts("layers", "master-replica-0")
    assert texts[texts.index("38"):][:3] == ["38", "39", "38"], texts  # the last layer; how many files; the one that is not gone


def test_buckets(server, images, registry):
    run_job(server, "gs", python_image(images, registry, "gs", GS_TRAINER), jobDir="gs://out/gs")
    assert [text for text in server.texts("gs") if text.startswith("READ ")] == ["READ written by http", "READ written to /gcs"]
    assert (server.data / "buckets/out/gs/by-file").read_text() == "written to /gcs"


# What an image's own user asks: the buckets, and the front under Google's names, whose certificate it can read.
OTHER_USER = """
import json, os, ssl, urllib.request
server = os.environ["STORAGE_EMULATOR_HOST"]
def ask(url, **options):
    return urllib.request.urlopen(urllib.request.Request(url, **options), timeout=60).read()
ask(server + "/upload/storage/v1/b/out/o?uploadType=media&name=mine", data=b"by 1234", method="POST")
print("READ " + ask(server + "/storage/v1/b/out/o/mine?alt=media").decode())
if os.environ.get("SSL_CERT_FILE"):
    for name in ("metadata.google.internal", "metadata"):
        token = json.loads(ask("http://" + name + "/computeMetadata/v1/instance/service-accounts/default/token",
                               headers={"Metadata-Flavor": "Google"}))["access_token"]
        print("TOKEN", token.rsplit(".", 3)[0])
    print("FRONT " + ask("https://storage.googleapis.com/storage/v1/b/out/o/mine?alt=media").decode())
print("FILE " + open("/gcs/out/mine").read())
print("UID", os.getuid())
"""


def test_a_user_of_the_image_is_answered_as_its_attempt(server, images, registry):
    python_image(images, registry, "gs-user", OTHER_USER)
    if "gs-user-1234" not in images.made:
        images.derive("gs-user", "gs-user-1234", user="1234:1234")
    run_job(server, "gs_user", registry.push(images["gs-user-1234"]), jobDir="gs://out/gs")
    texts = server.texts("gs_user", "master-replica-0")
    assert "READ by 1234" in texts and "FILE by 1234" in texts and "UID 1234" in texts, texts
    front = [text for text in texts if text.startswith(("TOKEN", "FRONT"))]
    assert front == [] or front[2:] == ["FRONT by 1234"], texts
    assert all(re.fullmatch(r"TOKEN ya29\.trainyard\.\d+-master-replica-0-1", line) for line in front[:2]), texts


def test_a_trainer_module_of_the_image(server, push):
    run_job(server, "trainer", push("trainer"), args=["--epochs", "3"], jobDir="gs://out/trainer")
    line = next(text for text in server.texts("trainer") if text.startswith("TRAINER "))
    seen = json.loads(line.removeprefix("TRAINER "))
    assert seen["argv"] == ["--epochs", "3", "--job-dir", "gs://out/trainer"] and seen["pwd"] == "/app" and seen["uid"] == 0
    assert (server.data / "buckets/out/trainer/model.txt").read_text() == "trained\n"


def test_a_cluster_talks(server, images, registry):
    run_job(server, "cluster", python_image(images, registry, "talkers", TALKERS), **CLUSTER)
    pulls = [text for text in server.texts("cluster") if text.startswith("The container engine pulls the image")]
    assert len(pulls) <= 1, pulls  # the other three replicas wait for it
    everybody = [["master", 0], ["ps", 0], ["worker", 0], ["worker", 1]]
    tasks = {"master-replica-0": ("master", 0), "worker-replica-0": ("worker", 0), "worker-replica-1": ("worker", 1),
             "ps-replica-0": ("ps", 0)}
    clusters = set()
    for task, (kind, index) in tasks.items():
        texts = server.texts("cluster", task)
        assert "HEARD " + json.dumps(everybody) in texts, (task, texts)
        spec = json.loads(next(text for text in texts if text.startswith("SPEC ")).removeprefix("SPEC "))
        assert set(spec) == {"cluster", "environment", "task", "job"} and spec["environment"] == "cloud"
        assert (spec["task"]["type"], spec["task"]["index"]) == (kind, index)
        clusters.add(json.dumps(spec["cluster"], sort_keys=True))
    assert len(clusters) == 1
    cluster = json.loads(clusters.pop())
    assert {kind: len(addresses) for kind, addresses in cluster.items()} == {"master": 1, "worker": 2, "ps": 1}
    for kind, addresses in cluster.items():
        for index, address in enumerate(addresses):
            assert re.fullmatch(rf"cmle-training-{kind}-[0-9a-f]{{10}}-{index}:\d+", address), cluster


def test_workers_with_an_image_of_their_own(server, push):
    server.submit("mixed", scaleTier="CUSTOM", masterType="n1-standard-4", workerType="n1-standard-4", workerCount="1",
                  masterConfig={"imageUri": push("cmd-only")},
                  workerConfig={"imageUri": push("entrypoint-only"), "containerArgs": ["worker"]})
    assert server.wait("mixed")["state"] == "SUCCEEDED", server.texts("mixed")
    # The job ends with its master: the worker may have been stopped before it said a word.
    assert shown(server, "mixed", "args: ") == ["[/bin/show] [cmd]"]
    worker = [text for text in server.texts("mixed", "worker-replica-0") if text.startswith("Running command: ")]
    assert worker == ["Running command: /bin/show entry worker"], server.texts("mixed", "worker-replica-0")


TICK = "i=0; while [ $i -lt 30 ]; do echo tick $i; i=$((i+1)); sleep 0.1; done"


def test_a_killed_server(server, push):
    submit_image(server, "survivor", push("busybox"), master=shell(TICK))
    server.wait_for_text("survivor", "tick 3")
    server.kill()
    server.start()
    job = server.wait("survivor")
    assert job["state"] == "SUCCEEDED", job
    texts = server.texts("survivor", "master-replica-0")
    assert [text for text in texts if text.startswith("tick ")] == [f"tick {n}" for n in range(30)]
    assert len([text for text in texts if text.startswith("Running command: ")]) == 1


def test_a_killed_supervisor(server, push, tmp_path_factory):
    """The container ends with it, and only then another one begins."""
    marker = f"marker-{os.getpid()}-{server.way}"
    loop = f"echo began; while :; do sleep 0.2; done; : {marker}"
    submit_image(server, "lost", push("busybox"), master=shell(loop))
    server.wait_for_text("lost", "began")

    def shells():
        return {pid for pid, command in processes_with(marker) if command.startswith("/bin/sh")}

    # A shell that has just forked is two for a moment.
    first = wait_for(lambda: seen if len(seen := shells()) == 1 else None, lambda: str(processes_with(marker)))
    supervisors = [pid for pid, command in processes_with(f"{server.data}/attempts/") if " replica " in command]
    for pid in supervisors:
        kill(pid)
    wait_for(lambda: True if server.texts("lost").count("began") == 2 else None, lambda: str(server.texts("lost")))
    second = wait_for(lambda: seen if len(seen := shells()) == 1 else None, lambda: str(processes_with(marker)))
    assert not first & second
    server.cancel("lost")
    assert server.wait("lost")["state"] == "CANCELLED"
    wait_for(lambda: True if not processes_with(marker) else None, lambda: str(processes_with(marker)))


def test_gcloud_submits_an_image(server, push, gcloud, tmp_path):
    environment = {**server.client_environment(), "CLOUDSDK_CONFIG": str(tmp_path), "CLOUDSDK_CORE_PROJECT": "p"}
    submitted = subprocess.run([gcloud, "ai-platform", "jobs", "submit", "training", "by_gcloud", "--region", "us-central1",
                                "--master-image-uri", push("entrypoint-only"), "--", "-x", "one two"],
                               env=environment, capture_output=True, text=True, timeout=DEADLINE_S)
    assert submitted.returncode == 0, submitted.stderr
    assert server.wait("by_gcloud")["state"] == "SUCCEEDED", server.texts("by_gcloud")
    assert shown(server, "by_gcloud", "args: ") == ["[/bin/show] [entry] [-x] [one two]"]


def test_many_jobs_leave_nothing(server, push):
    """100 quick ones, some of them cancelled or killed (20 by an engine's API, which takes a second for each);
    TRAINYARD_MANY_CONTAINERS says how many instead. What is left is looked for at once, and again at the module's end."""
    count = int(os.environ.get("TRAINYARD_MANY_CONTAINERS") or (20 if server.way.engine else 100))
    image = push("busybox")
    jobs = [f"many_{number}" for number in range(count)]
    for number, job in enumerate(jobs):
        if number % 10 == 9:
            submit_image(server, job, image, master=shell("while :; do sleep 1; done"))
            server.cancel(job)
        elif number % 10 == 8:
            submit_image(server, job, image, master=shell("kill -9 -1; exit 1"))
        else:
            submit_image(server, job, image, master=shell(f"echo {number}"))
    for number, job in enumerate(jobs):
        state = server.wait(job)["state"]
        assert state == ("CANCELLED" if number % 10 == 9 else "FAILED" if number % 10 == 8 else "SUCCEEDED"), (job, server.texts(job))
    wait_for(lambda: True if not leftovers(server) else None, lambda: str(leftovers(server)))
