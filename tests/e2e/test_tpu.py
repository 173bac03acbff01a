"""TensorFlow's own resolver of TPUs in a job whose TPU the operator has declared (--accelerators): what it finds, and what the job says
where it finds none. Chips are not needed for that: the resolver only asks."""

import json
import os

import pytest

from test_unmodified_gs import real_environments, start, trainers  # fixtures  # noqa: F401

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="port 443 of the front needs root")


@pytest.fixture
def resolve(trainers):  # noqa: F811
    """Runs the trainer and returns the job and what it printed."""
    def go(server, what, **training_input):
        uri = server.upload("packages", "tpu_resolver.tar.gz", trainers["tpu_resolver"])
        server.submit(what, packageUris=[uri], pythonModule="tpu_resolver.task", args=[what], **training_input)
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
    assert "TPUClusterResolver('local')" in job["errorMessage"]


@pytest.mark.long
@pytest.mark.parametrize("version", ["2.2", "2.11", "2.15"])
def test_the_resolver_is_told_that_another_node_is_not_there(version, start, resolve):  # noqa: F811
    """A job without a TPU: the resolver finds zone and project by the metadata server, and no node."""
    server = start()
    job, _, texts = resolve(server, "other", runtimeVersion=version)
    assert job["state"] == "FAILED" and "does not find its TPU" in job["errorMessage"], job
    assert any("nodes/somebody-elses' was not found" in text for text in texts), texts[-40:]
    job, _, texts = resolve(server, "without", runtimeVersion=version)
    assert job["state"] == "FAILED" and "needs a TPU, but the replica has none" in job["errorMessage"], job
