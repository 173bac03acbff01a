"""Accelerators, declared with --accelerators: who gets which, who waits, what everyone is told."""

import json
import subprocess

import pytest
import requests

from trainyard_server import PROGRAM, kill, processes_with, wait_for

FOUR_T4 = {"scaleTier": "CUSTOM", "masterType": "n1-standard-16",
           "masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "4"}}}
TWO_T4 = {**FOUR_T4, "masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "2"}}}
VARIABLES = ["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "TPU_CONFIG",
             "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TF_CONFIG"]


@pytest.fixture
def submit(upload):
    def submit(server, job_id, *args, **more):
        return server.submit(job_id, packageUris=[upload(server, "probe")], pythonModule="probe.task", args=list(args), **more)
    return submit


def status(server, job_id):
    response = server.request("GET", f"/trainyard/v1/projects/p/jobs/{job_id}")
    assert response.ok, response.text
    return response.json()


def gpus(server, job_id):
    return [replica.get("gpus", []) for replica in status(server, job_id)["replicas"]]


def wait_for_reason(server, job_id, text):
    return wait_for(lambda: (lambda found: found if text in found.get("reason", "") else None)(status(server, job_id).get("waiting", {})),
                    lambda: f"{job_id}: {status(server, job_id)}\n{server.stderr()[-2000:]}")


def variables(server, job_id):
    """What the probe printed of its environment."""
    printed = [text for text in server.texts(job_id, "master-replica-0") if text.startswith("ENVIRONMENT ")]
    environment = json.loads(printed[0].removeprefix("ENVIRONMENT "))
    return {name: value for name, value in environment.items() if name in VARIABLES}


def supervisors(server):
    return processes_with(f"{server.data}/attempts/")


def test_two_jobs_that_want_all_gpus_run_one_after_the_other(make_server, submit):
    server = make_server("--accelerators", "nvidia-tesla-t4=4")
    assert "this machine has 4 GPUs (nvidia-tesla-t4), as declared" in server.stderr()
    submit(server, "first", "environment", "forever", **FOUR_T4)
    server.wait("first", lambda job: job["state"] == "RUNNING")
    submit(server, "second", "environment", **FOUR_T4)
    submit(server, "third", "print", "here", **TWO_T4)
    submit(server, "without", "environment")  # needs none, and is not held back

    waiting = wait_for_reason(server, "second", "Waiting for 4 NVIDIA_TESLA_T4: 4 of 4 are in use by first.")
    assert waiting["jobPosition"] == "1"
    assert waiting["unblock"] == "It starts when first has ended."
    assert server.get("second")["jobPosition"] == "1"
    assert server.get("third")["jobPosition"] == "2"
    assert server.wait("without")["state"] == "SUCCEEDED"
    seen = variables(server, "without")
    assert (seen["CUDA_VISIBLE_DEVICES"], seen["NVIDIA_VISIBLE_DEVICES"]) == ("", "void")
    assert "TPU_CONFIG" not in seen and "CUDA_DEVICE_ORDER" not in seen
    line = "Waiting for 4 NVIDIA_TESLA_T4: 4 of 4 are in use by first. It starts when first has ended."
    server.wait_for_text("second", line)

    described = server.trainyard("jobs", "describe", "second")
    assert described.returncode == 0, described.stderr
    assert "Why it is waiting (position 1 in the queue):\n  Waiting for 4 NVIDIA_TESLA_T4" in described.stderr
    [page] = [line for line in described.stderr.splitlines() if line.endswith("/jobs/second")]
    assert page.startswith(f"{server.url}/ui/p/"), "the console's page of the job"
    as_json = server.trainyard("jobs", "describe", "second", "--format", "json")
    assert json.loads(as_json.stdout)["state"] == "QUEUED"
    assert "Why it is waiting" not in as_json.stdout + as_json.stderr
    assert "waiting" not in json.loads(as_json.stdout)

    seen = variables(server, "first")
    assert seen["CUDA_VISIBLE_DEVICES"] == seen["NVIDIA_VISIBLE_DEVICES"] == "0,1,2,3"
    assert seen["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert gpus(server, "first") == [["0", "1", "2", "3"]]
    server.cancel("first")
    assert server.wait("second")["state"] == "SUCCEEDED"
    assert server.wait("third")["state"] == "SUCCEEDED"
    assert variables(server, "second")["CUDA_VISIBLE_DEVICES"] == "0,1,2,3"
    assert server.texts("second").count(line) == 1


def test_devices_are_disjoint_and_kept_over_kill_9(make_server, submit):
    server = make_server("--accelerators", "nvidia-tesla-t4=4")
    for job_id in ("a", "b"):
        submit(server, job_id, "print", "started", "forever", **TWO_T4)
    for job_id in ("a", "b"):
        server.wait_for_text(job_id, "started")
    held = {job_id: gpus(server, job_id)[0] for job_id in ("a", "b")}
    assert sorted(held["a"] + held["b"]) == ["0", "1", "2", "3"]
    submit(server, "c", "print", "third", **TWO_T4)
    wait_for_reason(server, "c", "4 of 4 are in use by a, b.")

    victim = [pid for pid, command in supervisors(server) if "/1-master-replica-0-" in command]
    for pid in victim:
        kill(pid)
    wait_for(lambda: True if server.texts("a").count("started") == 2 else None, lambda: str(server.texts("a")))
    assert gpus(server, "a")[0] == held["a"], "kept over a restart"
    server.kill()
    server.start()
    assert server.get("c")["state"] == "QUEUED"
    wait_for_reason(server, "c", "4 of 4 are in use by a, b.")
    assert {job_id: gpus(server, job_id)[0] for job_id in ("a", "b")} == held

    server.kill()  # and the replicas of a end while no server is there
    for pid in [pid for pid, command in supervisors(server) if "/1-master-replica-0-" in command]:
        kill(pid)
    server.start()
    server.cancel("a")
    server.wait("a")
    assert server.wait("c")["state"] == "SUCCEEDED"
    assert gpus(server, "c")[0] == held["a"]
    server.cancel("b")
    server.wait("b")


def test_without_accelerators_a_job_waits_and_says_so(make_server, submit):
    server = make_server("--accelerators", "none")
    job = submit(server, "gpu", "print", "never", scaleTier="BASIC_GPU", scheduling={"maxWaitTime": "3600s"})
    assert job["state"] == "QUEUED"
    waiting = wait_for_reason(server, "gpu", "The job asks for 1 NVIDIA_TESLA_K80; this machine has no accelerators.")
    assert "--accelerator-map nvidia-tesla-k80=none" in waiting["unblock"]
    assert "(maxWaitTime)" in waiting["unblock"]
    server.wait_for_text("gpu", f"{waiting['reason']} {waiting['unblock']}")
    submit(server, "cpu", "print", "fine")
    assert server.wait("cpu")["state"] == "SUCCEEDED", "it is not held back"
    server.cancel("gpu")
    assert server.wait("gpu")["state"] == "CANCELLED"


def test_a_replicas_accelerators_are_of_one_model(make_server, submit):
    server = make_server("--accelerators", "nvidia-tesla-v100=4,nvidia-tesla-k80=4")
    metrics = requests.get(server.url + "/metrics", timeout=10).text
    assert 'trainyard_accelerator_healthy{type="nvidia-tesla-k80",accelerator="7"} 1\n' in metrics
    v100 = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4"}
    submit(server, "eight", "environment", **v100, masterConfig={"acceleratorConfig": {"type": "NVIDIA_TESLA_V100", "count": "8"}})
    wait_for_reason(server, "eight", "this machine has 8 GPUs (4 nvidia-tesla-v100, 4 nvidia-tesla-k80). "
                                     "The accelerators of a replica are all of one model.")
    submit(server, "four", "environment", **v100, masterConfig={"acceleratorConfig": {"type": "NVIDIA_TESLA_V100", "count": "4"}})
    assert server.wait("four")["state"] == "SUCCEEDED", "it is not held back"
    assert gpus(server, "four") == [["0", "1", "2", "3"]]
    server.cancel("eight")
    server.wait("eight")


def test_strict_capacity_refuses_what_is_not_there(make_server):
    program = {"packageUris": ["gs://packages/none.tar.gz"], "pythonModule": "a"}
    server = make_server("--capacity", "strict", "--accelerators", "none")
    response = server.create("j", scaleTier="BASIC_GPU", **program)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["status"] == "FAILED_PRECONDITION"
    assert "no GPUs" in json.dumps(error) and "scale_tier" in json.dumps(error)
    response = server.create("j", scaleTier="BASIC_TPU", **program)
    assert response.status_code == 400 and "no TPUs" in response.text and "--accelerator-map tpu-v2=cpu" in response.text


def test_strict_capacity_says_how_many_are_missing(make_server):
    server = make_server("--capacity", "strict", "--accelerators", "nvidia-tesla-t4=1")
    small = {**TWO_T4, "masterType": "n1-highmem-2"}
    response = server.create("j", packageUris=["gs://packages/none.tar.gz"], pythonModule="a", **small)
    assert response.status_code == 400, response.text
    if "vCPUs" in response.text:
        pytest.skip("this machine is too small for the smallest machine with two GPUs")
    assert "asks for 2 NVIDIA_TESLA_T4; this machine has 1 GPU (nvidia-tesla-t4)" in response.text
    assert "master_config.accelerator_config" in response.text


def test_the_operators_table(make_server, submit):
    server = make_server("--accelerators", "nvidia-h200=1", "--accelerator-map", "nvidia-tesla-k80=none,nvidia-tesla-t4=any")
    submit(server, "waived", "environment", scaleTier="BASIC_GPU")
    assert server.wait("waived")["state"] == "SUCCEEDED"
    assert variables(server, "waived")["CUDA_VISIBLE_DEVICES"] == ""
    assert "The job asks for 1 NVIDIA_TESLA_K80; this server runs such jobs without accelerators (--accelerator-map)." in server.texts("waived")
    one = {**TWO_T4, "masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "1"}}}
    submit(server, "mapped", "environment", **one)
    assert server.wait("mapped")["state"] == "SUCCEEDED"
    assert variables(server, "mapped")["CUDA_VISIBLE_DEVICES"] == "0"


def test_a_tpu_job_is_its_master_with_the_tpu(make_server, submit):
    server = make_server("--accelerators", "tpu-v2=8")
    submit(server, "tpu", "environment", scaleTier="BASIC_TPU")
    assert server.wait("tpu")["state"] == "SUCCEEDED", server.texts("tpu")
    seen = variables(server, "tpu")
    assert json.loads(seen["TPU_CONFIG"]) == {"project": "p", "zone": "us-central1-b", "tpu_node_name": "cmle-training-0-tpu"}
    assert seen["KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"] == "cmle-training-0-tpu"
    config = json.loads(seen["TF_CONFIG"])
    assert list(config["cluster"].values()) == [[config["cluster"][config["task"]["type"]][0]]], "the worker is not in the cluster"
    assert config["job"]["scale_tier"] == "BASIC_TPU"
    assert [replica["taskName"] for replica in status(server, "tpu")["replicas"]] == ["master-replica-0"]


def test_machines_and_accelerators_of_vertex_in_ml_v1(make_server, submit):
    server = make_server("--accelerators", "nvidia-l4=2,tpu-v5-litepod=8")
    submit(server, "named", "environment", scaleTier="CUSTOM", masterType="g2-standard-24",
           masterConfig={"acceleratorConfig": {"type": "NVIDIA_L4", "count": "2"}})
    assert server.wait("named")["state"] == "SUCCEEDED", server.texts("named")
    assert variables(server, "named")["CUDA_VISIBLE_DEVICES"] == "0,1"
    submit(server, "mapped", "environment", scaleTier="CUSTOM", masterType="a3-highgpu-1g")  # brings an H100
    assert server.wait("mapped")["state"] == "SUCCEEDED", server.texts("mapped")
    assert variables(server, "mapped")["CUDA_VISIBLE_DEVICES"] in ("0", "1")
    submit(server, "tpu", "environment", scaleTier="CUSTOM", masterType="ct5lp-hightpu-4t")
    assert server.wait("tpu")["state"] == "SUCCEEDED", server.texts("tpu")
    assert json.loads(variables(server, "tpu")["TPU_CONFIG"])["tpu_node_name"] == "cmle-training-0-tpu"
    response = server.create("j", packageUris=["gs://packages/none.tar.gz"], pythonModule="a", scaleTier="CUSTOM", masterType="n1-standard-4",
                             masterConfig={"acceleratorConfig": {"type": "NVIDIA_L4", "count": "4"}})
    assert response.status_code == 400 and "Machine types with 4 of them: g2-standard-48." in response.text


def test_priority_orders_jobs_that_want_the_same_gpus(make_server, submit):
    server = make_server("--accelerators", "nvidia-tesla-t4=4")
    submit(server, "holder", "print", "started", "forever", **FOUR_T4)
    server.wait_for_text("holder", "started")
    submit(server, "low", "print", "x", **FOUR_T4)
    submit(server, "high", "print", "x", scheduling={"priority": 100}, **FOUR_T4)
    wait_for_reason(server, "high", "in use by holder")
    waiting = wait_for_reason(server, "low", "1 job before it, high is next.")
    assert waiting["jobPosition"] == "2"
    server.cancel("holder")
    high, low = server.wait("high"), server.wait("low")
    assert high["startTime"] < low["startTime"]


@pytest.mark.parametrize("flags, text", [(["--accelerators", "t4"], "'t4' is not NAME=VALUE"),
                                         (["--accelerator-map", "k80=any"], "'k80' is not an accelerator of the API")])
def test_wrong_flags_are_refused(tmp_path, flags, text):
    served = subprocess.run([PROGRAM, "serve", "--data", str(tmp_path), "--listen", "127.0.0.1:0", *flags],
                            capture_output=True, text=True, timeout=60)
    assert served.returncode != 0
    assert text in served.stdout + served.stderr
