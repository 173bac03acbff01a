"""The wheel of ./dev package: a clean virtual environment has the program and the Python client, and they find each other."""

import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

from installed_program import make_wheel
from trainyard_server import Server, end_supervisors

SUBMITS = """
import sys, trainyard
job = trainyard.connect(sys.argv[1], "p").run("train.py")
job.wait()
print(job.state)
"""


@pytest.fixture(autouse=True)
def tools():
    if not shutil.which("strip"):
        pytest.skip("no strip on PATH")


def test_a_clean_environment_serves_and_submits(tmp_path, environments):
    wheel, venv = make_wheel(tmp_path), tmp_path / "venv"
    assert "-py3-none-manylinux_2_" in wheel.name
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check", wheel], check=True, timeout=300)
    (tmp_path / "train.py").write_text("import trainyard\ntrainyard.log(step=1, loss=0.5)\n")
    server = Server(tmp_path / "data", environments=environments, program=venv / "bin/trainyard")
    try:
        done = subprocess.run([venv / "bin/python", "-c", SUBMITS, server.url], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.stdout == "SUCCEEDED\n", done
    finally:
        server.stop()
        end_supervisors(server.data)


def test_the_same_program_gives_the_same_bytes(tmp_path):
    small = shutil.which("true"), "--version", "1.2"
    wheel = make_wheel(tmp_path / "first", *small)
    assert make_wheel(tmp_path / "second", *small).read_bytes() == wheel.read_bytes()
    folders = {pathlib.PurePath(file).parts[0] for file in zipfile.ZipFile(wheel).namelist()}
    assert folders == {"trainyard", "trainyard-1.2.data", "trainyard-1.2.dist-info"}
