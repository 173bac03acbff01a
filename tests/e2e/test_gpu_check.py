"""tools/gpu_check.sh with libraries that play a GPU: that the script itself is right, not that a GPU is."""

import subprocess

import pytest

from trainyard_server import PROGRAM, ROOT, processes_with

SCRIPT = ROOT / "tools/gpu_check.sh"


@pytest.mark.long
def test_every_check_passes_with_a_stand_in():
    done = subprocess.run([SCRIPT, PROGRAM, "--stand-in"], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    skipped = [line for line in lines if line.startswith("SKIPPED")]
    assert [line.split()[0] for line in lines if line not in skipped] == ["PASSED"] * 10 + ["PASSED:"], done.stdout
    reasons = ["the stand-in needs no device file", "no GPU has MIG devices", "all GPUs are of one model"]
    assert [line.split(": ", 1)[1] for line in skipped] == reasons, done.stdout
    assert not processes_with("/var/tmp/gpu-check-"), "it ends what it started"


def test_without_a_gpu_it_fails_and_says_so():
    done = subprocess.run([SCRIPT, PROGRAM], capture_output=True, text=True)
    if "the server finds what NVML finds" in done.stdout:
        pytest.skip("this machine has GPUs")
    assert done.returncode == 1
    assert done.stdout.startswith("FAILED   the checks could not begin: NVIDIA's management library cannot be asked")


@pytest.mark.parametrize("arguments", [[], ["/nonexistent"], [PROGRAM, "--other"]])
def test_a_wrong_call_is_refused(arguments):
    done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr
