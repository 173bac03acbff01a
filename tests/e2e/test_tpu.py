"""TensorFlow's own resolver of TPUs in a job whose TPU the operator has declared (--accelerators): what it finds, and what the job says
where it finds none. Chips are not needed for that: the resolver only asks. And programs for a TPU where the CPU takes its place
(--accelerator-map TYPE=cpu)."""

import json
import os
import subprocess

import pytest

from test_clients import gcloud_environment
from test_unmodified_gs import real_environments, start, trainers  # fixtures  # noqa: F401
from trainyard_server import PROGRAM, ROOT, Server

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="port 443 of the front needs root")


@pytest.fixture
def resolve(trainers):  # noqa: F811
    """Runs the trainer and returns the job and what it printed."""
    def go(server, what, trainer="tpu_resolver", **training_input):
        uri = server.upload("packages", f"{trainer}.tar.gz", trainers[trainer])
        server.submit(what, packageUris=[uri], pythonModule=f"{trainer}.task", args=[what], **training_input)
        job = server.wait(what)
        texts = server.texts(what)
        if any("; running with runtime version" in text for text in texts):
            pytest.skip(f"runtime version {training_input['runtimeVersion']}: its Python is not there")
        printed = [json.loads(text.removeprefix("RESULT ")) for text in texts if text.startswith("RESULT ")]
        return job, printed[0] if printed else None, texts
    return go


VERSIONS = ["2.15", pytest.param("2.2", marks=pytest.mark.long), pytest.param("1.15", marks=pytest.mark.long)]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_resolver_finds_the_jobs_node(version, start, resolve):  # noqa: F811
    server = start("--accelerators", "tpu-v2=8")
    job, seen, texts = resolve(server, "resolve", runtimeVersion=version, scaleTier="BASIC_TPU")
    assert job["state"] == "SUCCEEDED", texts[-40:]
    assert seen["version"].startswith(version) and seen["jobs"] == [["worker"], ["worker"]] and seen["workers"] == [0, 0], seen


@pytest.mark.long
@pytest.mark.parametrize("version", ["1.15", "2.2", "2.15"])
def test_a_job_that_connects_to_its_node_is_told_where_the_chips_are(version, start, resolve):  # noqa: F811
    server = start("--accelerators", "tpu-v2=8")
    job, _, texts = resolve(server, "connect", runtimeVersion=version, scaleTier="BASIC_TPU")
    assert job["state"] == "FAILED" and "does not find its TPU" in job["errorMessage"], job
    assert "gives the replica no device file of one" in job["errorMessage"] and "tpu-v2=cpu" in job["errorMessage"], job
    assert any("declares its TPU" in text and "tpu-v2=cpu" in text for text in texts), texts


@pytest.mark.long
@pytest.mark.parametrize("version", ["2.2", "2.11", "2.15"])
def test_the_resolver_is_told_that_another_node_is_not_there(version, start, resolve):  # noqa: F811
    """A job without a TPU: the resolver finds zone and project by the metadata server, and no node."""
    server = start()
    job, _, texts = resolve(server, "other", runtimeVersion=version)
    assert job["state"] == "FAILED" and "does not find its TPU" in job["errorMessage"], job
    assert any("nodes/somebody-elses' was not found" in text for text in texts), texts[-40:]
    job, _, texts = resolve(server, "without", runtimeVersion=version)
    assert job["state"] == "FAILED" and "needs a TPU, but the job requested none" in job["errorMessage"], job


@pytest.mark.parametrize("version", ["2.15", pytest.param("2.2", marks=pytest.mark.long)])
def test_a_program_for_a_tpu_trains_on_the_cpu_in_its_place(version, start, resolve):  # noqa: F811
    server = start("--accelerator-map", "tpu-v2=cpu")
    job, seen, texts = resolve(server, "cpu", trainer="tpu_strategy", runtimeVersion=version, scaleTier="BASIC_TPU")
    assert job["state"] == "SUCCEEDED", texts[-40:]
    assert seen.pop("version").startswith(version)
    assert seen == {"replicas": 1, "keras": True, "loop": True, "node": "local"}
    assert any("the CPU takes the TPU's place (--accelerator-map)" in text for text in texts), texts
    assert not [text for text in texts if text.startswith(("Collecting ", "Downloading tensorflow"))], texts
    assert len([text for text in texts if "trains on the CPU in the place of the TPU" in text]) == 1, texts


def test_a_program_for_a_tpu_without_one_is_told_what_to_do(start, resolve):  # noqa: F811
    """Before it runs, and when it has failed: it did ask for a TPU."""
    server = start("--accelerator-map", "tpu-v2=none")
    job, _, texts = resolve(server, "without", runtimeVersion="2.15", scaleTier="BASIC_TPU")
    assert job["state"] == "FAILED" and "Request a TPU" not in job["errorMessage"], job
    assert "needs the TPU that the job requested" in job["errorMessage"] and "tpu-v2=cpu" in job["errorMessage"], job
    assert "tf.distribute.get_strategy()" in job["errorMessage"], job
    assert any("TPUStrategy) fails without one. With --accelerator-map tpu-v2=cpu" in text for text in texts), texts


@pytest.mark.long
def test_the_official_models_mnist_trains_on_the_cpu(start, trainers, gcloud, tmp_path, monkeypatch):  # noqa: F811
    """The page's command, with a package that makes a small data set first: the page's own is a public bucket of Google's."""
    monkeypatch.setattr(Server, "environment", {})  # with pyenv's Python 3.7
    server = start("--accelerator-map", "tpu-v2=cpu")
    package = tmp_path / "models.tar.gz"
    package.write_bytes(trainers["tpu_mnist"])
    submitted = subprocess.run(
        [gcloud, "ai-platform", "jobs", "submit", "training", "mnist", "--staging-bucket=gs://staging", f"--packages={package}",
         "--module-name=tpu_mnist.task", "--runtime-version=2.2", "--python-version=3.7", "--scale-tier=BASIC_TPU", "--region=us-central1",
         "--", "--distribution_strategy=tpu", "--data_dir=/tmp/data", "--model_dir=/tmp/model", "--train_epochs=1", "--batch_size=64"],
        capture_output=True, text=True, env=gcloud_environment(server, tmp_path), timeout=120)
    assert submitted.returncode == 0, submitted.stderr
    job = server.wait("mnist")
    texts = server.texts("mnist")
    if any("; running with runtime version" in text for text in texts) or "pip_index_unreachable" in json.dumps(job):
        pytest.skip("no Python 3.7, or no package index")
    assert job["state"] == "SUCCEEDED", texts[-60:]
    assert any("Run stats:" in text for text in texts), texts[-40:]


@pytest.mark.long
def test_the_check_for_machines_with_a_tpu(real_environments):  # noqa: F811
    """That the script itself is right, not that a TPU is."""
    done = subprocess.run([ROOT / "tools/tpu_check.sh", PROGRAM, "--stand-in"], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "TRAINYARD_TEST_ENVIRONMENTS": str(real_environments)})
    assert done.returncode == 0 and done.stdout.count("PASSED") == 6, done.stdout + done.stderr
