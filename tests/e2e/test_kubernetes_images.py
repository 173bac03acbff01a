"""Jobs with an image of their own on a real Kubernetes: the image's container beside the agent's.

The kubelets are hollow: a container's files are this machine's, whatever its image says, so programs are shells and this machine's Python.
"""

import json

import pytest

from container_engines import run_job, shell, submit_image
from kube_containers import PATH
from replica_shell import connect
from slurm_world import wait_for_reason
from test_containers import TALKERS
from test_tuning_containers import REPORTS
from trainyard_server import processes_with

PLACE = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4"}
# Prints the words behind the script: the first one is $0 to a shell.
SHOWS = ["/bin/sh", "-c", 'echo "args:$(printf " [%s]" "$0" "$@")"']
ENVIRONMENT = 'import json, os; print("SEEN " + json.dumps({"env": dict(os.environ), "ids": [os.getuid(), os.getgid(), *os.getgroups()]}))'
LIVES = "echo begun; while :; do sleep 1000 & wait; done"

BUCKET = """
import os, urllib.request
def call(method, path, data=None):
    url = os.environ["STORAGE_EMULATOR_HOST"] + path
    return urllib.request.urlopen(urllib.request.Request(url, data, method=method), timeout=60).read().decode()
call("POST", "/upload/storage/v1/b/out/o?uploadType=media&name=job/written", b"by the container")
print("READ " + call("GET", "/storage/v1/b/out/o/job%2Fwritten?alt=media"))
"""


@pytest.fixture
def image(images, registry):
    """One whose program shows its arguments; as it is pushed."""
    if "shows" not in images.made:
        images.derive("busybox", "shows", entrypoint=[*SHOWS, "entry"], cmd=["cmd", "two words"])
    return registry.push(images["shows"])


def python(program):
    """masterConfig for a program."""
    return {"containerCommand": ["python3", "-c", program]}


def seen(server, job_id, prefix, task="master-replica-0"):
    return [text.removeprefix(prefix) for text in server.texts(job_id, task) if text.startswith(prefix)]


CASES: dict[str, tuple[dict, dict, str]] = {  # masterConfig, more of the job -> what the program gets
    "image": ({}, {}, "[entry] [cmd] [two words]"),
    "args": ({}, {"args": ["a", "b c", ""]}, "[entry] [a] [b c] []"),
    "container_args": ({"containerArgs": ["x y", "$(HOME)"]}, {"jobDir": "gs://out/job"}, "[entry] [x y] [$(HOME)] [--job-dir] [gs://out/job]"),
    "command": ({"containerCommand": [*SHOWS, "mine"]}, {}, "[mine]"),
    "both": ({"containerCommand": SHOWS, "containerArgs": ["1", "$HOME"]}, {}, "[1] [$HOME]"),
}


def test_entrypoint_and_cmd(space, make_kubernetes_server, image):
    server = make_kubernetes_server(space)
    for name, (master, more, _) in CASES.items():
        submit_image(server, name, image, master, **PLACE, **more)
    for name, (_, _, shown) in CASES.items():
        assert server.wait(name)["state"] == "SUCCEEDED", (server.get(name), server.texts(name)[-20:])
        assert seen(server, name, "args: ") == [shown], name


def test_the_environment_is_the_containers_and_the_services(space, make_kubernetes_server, image):
    server = make_kubernetes_server(space)
    run_job(server, "job", image, master=python(ENVIRONMENT), jobDir="gs://out/job", **PLACE)
    [text] = seen(server, "job", "SEEN ")
    variables, ids = json.loads(text)["env"], json.loads(text)["ids"]
    assert ids == [1000, 1000, 1000]
    assert (variables["PATH"], variables["HOME"], variables["USER"]) == (PATH, "/home/trainyard", "trainyard")
    assert variables["CLOUD_ML_JOB_ID"] == "job" and json.loads(variables["CLUSTER_SPEC"])["task"]["type"] == "master"
    assert variables["STORAGE_EMULATOR_HOST"].startswith("http://")
    assert not [name for name in variables if name.startswith(("TRAINYARD_", "KUBE"))]


def test_the_images_own_user_if_the_operator_says_so(space, make_kubernetes_server, image):
    """Hollow images are of root."""
    server = make_kubernetes_server(space, "--kubernetes-container-user", "image")
    run_job(server, "job", image, master=python(ENVIRONMENT), **PLACE)
    [text] = seen(server, "job", "SEEN ")
    assert json.loads(text)["ids"] == [0, 0, 1000] and "USER" not in json.loads(text)["env"]


def test_replicas_find_each_other(space, make_kubernetes_server, image):
    server = make_kubernetes_server(space)
    config = {"imageUri": image, **python('import os; print("TF_CONFIG " + os.environ["TF_CONFIG"])\n' + TALKERS)}
    server.submit("job", masterConfig=config, workerType="n1-standard-4", workerConfig=config, workerCount="1", **PLACE)
    assert server.wait("job")["state"] == "SUCCEEDED", (server.get("job"), server.texts("job")[-20:])
    for task, number in (("master", "master-replica-0"), ("worker", "worker-replica-0")):
        assert sorted(json.loads(seen(server, "job", "HEARD ", number)[0])) == [["master", 0], ["worker", 0]]
        assert json.loads(seen(server, "job", "SPEC ", number)[0])["task"]["type"] == task
        assert json.loads(seen(server, "job", "TF_CONFIG ", number)[0])["task"]["index"] == 0


def test_the_exit_status_is_the_programs(space, make_kubernetes_server, image):
    server = make_kubernetes_server(space)
    for name, master in (("three", shell("exit 3")), ("killed", shell("kill -9 $$")), ("missing", {"containerCommand": ["/nothing/here"]})):
        submit_image(server, name, image, master, **PLACE)
    said = {name: server.wait(name) for name in ("three", "killed", "missing")}
    assert {job["state"] for job in said.values()} == {"FAILED"}, said
    assert "exited with a non-zero status of 3" in said["three"]["errorMessage"]
    assert "SIGKILL" in said["killed"]["errorMessage"] or "signal 9" in said["killed"]["errorMessage"]
    assert "/nothing/here: the image has no such file" in said["missing"]["errorMessage"]


def test_a_job_that_is_cancelled_is_told(space, make_kubernetes_server, image):
    server = make_kubernetes_server(space)
    submit_image(server, "job", image, shell("trap 'echo told; exit 0' TERM; " + LIVES), **PLACE)
    server.wait_for_text("job", "begun")
    server.cancel("job")
    assert server.wait("job")["state"] == "CANCELLED"
    assert "told" in server.texts("job", "master-replica-0")
    space.wait_until_left()
    assert not processes_with(str(space.cluster.folder / "pods"))


def test_no_line_is_lost(space, make_kubernetes_server, image):
    server = make_kubernetes_server(space)
    program = 'import sys\nfor i in range(5000): print("out", i); print("err", i, file=sys.stderr)'
    run_job(server, "job", image, master=python(program), **PLACE)
    for name, severity in (("out", "INFO"), ("err", "ERROR")):
        entries = [entry for entry in server.log_entries("job") if entry["jsonPayload"]["message"].startswith(name + " ")]
        assert [entry["jsonPayload"]["message"] for entry in entries] == [f"{name} {number}" for number in range(5000)]
        assert {entry["severity"] for entry in entries} == {severity}


def test_what_outlives_the_program_is_dead(space, make_kubernetes_server, image):
    mark = f"{space.cluster.folder}/log/etcd"  # which user 1000 may read
    server = make_kubernetes_server(space)
    run_job(server, "job", image, master=shell(f"tail -f {mark} & setsid tail -f {mark} & echo over"), **PLACE)
    assert "over" in server.texts("job") and not processes_with(f"tail -f {mark}")


def test_a_container_that_is_killed_for_memory(space, make_kubernetes_server, image):
    server = make_kubernetes_server(space)
    submit_image(server, "job", image, shell(LIVES), **PLACE)
    server.wait_for_text("job", "begun")
    space.cluster.kill_container(space.pod_of(0), "job", "OOMKilled")
    job = server.wait("job")
    assert job["state"] == "FAILED" and "used more memory than it asked for" in job["errorMessage"], (job, server.texts("job"))


def test_a_container_that_something_else_kills_starts_again(space, make_kubernetes_server, image):
    server = make_kubernetes_server(space)
    submit_image(server, "job", image, shell(LIVES), **PLACE)
    server.wait_for_text("job", "begun")
    space.cluster.kill_container(space.pod_of(0), "job")
    server.wait_for_text("job", "The job has resources again.")
    assert any("was ended by signal 9" in text for text in server.texts("job", "service"))
    server.cancel("job")
    assert server.wait("job")["state"] == "CANCELLED"


def test_an_image_that_no_node_gets(space, make_kubernetes_server, images, registry):
    image = images.derive("busybox", "refused", cmd=["true"])
    tagged = registry.push(image)
    space.cluster.refuse_image(f"{tagged.rsplit(':', 1)[0]}@{image.digest}", "ErrImagePull", "failed to pull and unpack image: no such host")
    server = make_kubernetes_server(space, "--kubernetes-pull-max", "10")
    submit_image(server, "job", tagged, **PLACE)
    wait_for_reason(server, "job", "cannot pull the job's image")
    job = server.wait("job")
    assert job["state"] == "FAILED" and "no such host" in job["errorMessage"], job


def test_trials_report_their_metric(space, make_kubernetes_server, image):
    server = make_kubernetes_server(space)
    spec = {"goal": "MAXIMIZE", "hyperparameterMetricTag": "score", "maxTrials": 2, "maxParallelTrials": 2,
            "params": [{"parameterName": "x", "type": "DOUBLE", "minValue": -3, "maxValue": -1}]}
    job = run_job(server, "tuned", image, master=shell(REPORTS), hyperparameters=spec, jobDir="gs://out/tuned", **PLACE)
    trials = job["trainingOutput"]["trials"]
    assert len(trials) == 2 and {trial["state"] for trial in trials} == {"SUCCEEDED"}, trials
    for trial in trials:
        assert trial["finalMetric"] == {"trainingStep": "7", "objectiveValue": float(trial["hyperparameters"]["x"])}, server.texts("tuned")[-30:]


def test_a_shell_is_in_the_container(space, make_kubernetes_server, image):
    server = make_kubernetes_server(space)
    submit_image(server, "job", image, shell("touch /tmp/mine; " + LIVES), enableWebAccess=True, **PLACE)
    server.wait_for_text("job", "begun")
    terminal = connect(server.get("job")["trainingOutput"]["webAccessUris"]["master-replica-0"])
    terminal.send("40 132")
    terminal.send_binary(b"echo size=$(stty size) pid1=$(tr '\\0' ' ' </proc/1/cmdline); ls /tmp/mine && echo ours=$?\n")
    assert terminal.until(r"size=40 132 pid1=/run/trainyard-pod/starter")
    assert terminal.until(r"ours=0")
    terminal.close()
    done = server.trainyard("jobs", "shell", "job", input="echo at=$(id -u)\nexit 7\n")
    assert done.returncode == 7 and "at=1000" in done.stdout, done
    server.cancel("job")
    assert server.wait("job")["state"] == "CANCELLED"


def test_packages_need_a_runtime_of_ours(space, make_kubernetes_server, image, upload):
    server = make_kubernetes_server(space)
    submit_image(server, "job", image, packageUris=[upload(server, "probe")], pythonModule="probe.task", args=["print", "x"], **PLACE)
    job = server.wait("job")
    assert job["state"] == "FAILED" and "Python packages cannot be installed into the image" in job["errorMessage"], job


def test_buckets_are_reached_through_the_agent(space, make_kubernetes_server, image):
    server = make_kubernetes_server(space)
    run_job(server, "job", image, master=python(BUCKET), **PLACE)
    assert seen(server, "job", "READ ") == ["by the container"]
    assert (server.data / "buckets/out/job/written").read_text() == "by the container"
