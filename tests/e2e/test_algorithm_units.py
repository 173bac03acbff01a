"""The tests of the built-in algorithms' trainers (algorithms/tests), by the Python that the trainers run with."""

import json
import os
import pathlib
import subprocess

import pytest

from trainyard_server import PROGRAM, ROOT

# What takes longer than all the others together: networks of full size and of pictures (test_algorithms.py trains each), trainings that are
# repeated or need hundreds of steps, several replicas (there, too), files of 200 MB. Words of pytest's -k.
SLOW = " or ".join(["test_images_backbones", "test_image_object_detection", "test_image_classification", "test_xgboost_dist", "network_says_as_much",
                    "reruns", "learns_a", "memory_is_bounded"])
# A Python without pytest, and a pytest without TensorFlow: theirs comes last.
RUN = "import sys; sys.path.append(sys.argv.pop(1)); import pytest; sys.exit(pytest.main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def run(runtime, environments, tmp_path_factory):
    """run(WORDS): pytest on algorithms/tests with these words. What it printed."""
    runtime("algorithms")
    data = tmp_path_factory.mktemp("data")
    (data / "environments").symlink_to(environments)
    described = subprocess.run([PROGRAM, "runtimes", "describe", "algorithms", "--data", data, "--format", "json"], capture_output=True, text=True)
    assert described.returncode == 0, described.stderr
    python = pathlib.Path(json.loads(described.stdout)["folder"]) / "bin/python"
    packages = pathlib.Path(pytest.__file__).parents[1]

    def call(*words):
        folder = tmp_path_factory.mktemp("units")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "algorithms"), "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"}
        for name in [name for name in environment if name.startswith(("PYTEST_", "STORAGE_", "CLOUD_ML_"))]:
            del environment[name]
        done = subprocess.run([python, "-P", "-c", RUN, packages, ROOT / "algorithms/tests", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
                               "--durations=10", "--basetemp", folder / "base", *words],
                              cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout[-8000:])  # pytest shows it where the test fails
        assert done.returncode == 0, "\n".join(line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR", "E  ")))
        return done.stdout

    return call


def test_trainers(run):
    assert " passed" in run("-k", f"not ({SLOW})")


@pytest.mark.long
def test_trainers_of_full_size(run):
    assert " passed" in run("-k", SLOW)
