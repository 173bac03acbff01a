"""What is sent of a program: without a server."""

import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tarfile
import zipfile

import pytest

from trainyard import Error, _beside, _wheel
from trainyard._beside import files_beside
from trainyard._package import pack_file, pack_folder, pack_function, words

outside = 5


def members(package):
    with tarfile.open(fileobj=io.BytesIO(package.content)) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}


def run_module(package, tmp_path, *more):
    """Runs what was packed as the service does."""
    for name, content in members(package).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    top = next(iter(members(package))).partition("/")[0]
    return subprocess.run([sys.executable, "-m", package.module, *package.args, *more], cwd=tmp_path / top, capture_output=True, text=True)


def run_wheel(package, folder, *more):
    """Runs what was packed as the service does, in an empty working directory."""
    site, work = folder / "site", folder / "work"
    work.mkdir(parents=True)
    with zipfile.ZipFile(io.BytesIO(package.content)) as archive:
        for entry in archive.infolist():
            archive.extract(entry, site)
            (site / entry.filename).chmod(entry.external_attr >> 16 & 0o777)
    return subprocess.run([sys.executable, "-m", package.module, *package.args, *more], cwd=work, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(site)})


def test_a_file_takes_along_what_is_beside_it_as_trainyard_run_does(tmp_path):
    program = tmp_path / "program"
    for name, text in {"my-train.py": "import json, sys, model\nfrom data.load import rows\n"
                                      "print(model.name, rows, open('words.txt').read(), sys.argv[1:])\n",
                       "model.py": "name = 'deep'\n", "data/load.py": "rows = 3\n", "data/__init__.py": "", "words.txt": "said",
                       "data/raw/table.csv": "1,2", ".hidden": "", "venv/x.py": "", "requirements.txt": "lightgbm # fast\n-r more.txt\n",
                       "more.txt": "\nsix==1.16.0 ; python_version > '3'\n", "__pycache__/model.pyc": ""}.items():
        (program / name).parent.mkdir(parents=True, exist_ok=True)
        (program / name).write_text(text)
    tool = program / "tool.sh"
    tool.write_text("#!/bin/sh\necho ran\n")
    tool.chmod(0o755)
    package = pack_file(program / "my-train.py", ["--a"], ["xgboost"])
    assert (package.file_name, package.module, package.args) == ("trainyard_program-0-py3-none-any.whl", "trainyard_program", ["--a"])
    with zipfile.ZipFile(io.BytesIO(package.content)) as archive:
        names = {name.partition("/files/")[2] for name in archive.namelist() if "/files/" in name}
        metadata = archive.read("trainyard_program-0.dist-info/METADATA").decode()
    assert names == {"my-train.py", "model.py", "data/__init__.py", "data/load.py", "data/raw/table.csv", "words.txt", "tool.sh",
                     "requirements.txt", "more.txt"}
    assert [line for line in metadata.splitlines() if line.startswith("Requires-Dist: ")] == [
        "Requires-Dist: lightgbm", "Requires-Dist: six==1.16.0 ; python_version > '3'", "Requires-Dist: xgboost"]
    done = run_wheel(package, tmp_path / "out")
    assert done.stdout == "deep 3 said ['--a']\n", done.stderr
    assert (tmp_path / "out/work/tool.sh").stat().st_mode & 0o100


def test_the_wheel_and_the_limits_are_those_of_the_command():
    source = pathlib.Path(__file__).resolve().parents[3] / "src"
    assert f'kProgramModule = "{_wheel.MODULE}"' in (source / "base/wire/runs_bucket.h").read_text()
    assert f'kWheelName = "{_wheel.FILE_NAME}"' in (source / "cli/run/wheel.h").read_text()
    limits = (source / "cli/run/program_files.h").read_text()
    for name, value in (("kModuleFilesMax", "2'000"), ("kModuleBytesMax", "std::uintmax_t{16} << 20"),
                        ("kDataBytesMax", "std::uintmax_t{64} << 20"), ("kEntriesMax", "20'000")):
        assert f"{name} = {value};" in limits
    assert (_beside.MODULE_FILES_MAX, _beside.MODULE_BYTES_MAX, _beside.DATA_BYTES_MAX, _beside.ENTRIES_MAX) == (
        2000, 16 << 20, 64 << 20, 20_000)


def test_large_data_stays_behind_and_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("trainyard._beside.DATA_BYTES_MAX", 10)
    (tmp_path / "train.py").write_text("import os\nprint(sorted(os.listdir('.')))\n")
    (tmp_path / "big.bin").write_bytes(b"x" * 11)
    (tmp_path / "small.txt").write_text("x")
    with pytest.warns(UserWarning, match=r"big\.bin \(11 bytes\) is not sent"):
        package = pack_file(tmp_path / "train.py", [], [])
    assert run_wheel(package, tmp_path / "out").stdout == "['small.txt', 'train.py']\n"


@pytest.mark.parametrize("line, said", [("--index-url http://x", "an option of pip"), ("./mine", "a path on this machine")])
def test_requirements_that_cannot_be_met_say_why(tmp_path, line, said):
    (tmp_path / "train.py").write_text("")
    (tmp_path / "requirements.txt").write_text(line + "\n")
    with pytest.raises(Error, match=said):
        pack_file(tmp_path / "train.py", [], [])


def test_equal_programs_are_equal_bytes(tmp_path, monkeypatch):
    (tmp_path / "train.py").write_text("print(1)\n")
    first = pack_file(tmp_path / "train.py", [], [])
    monkeypatch.setattr("time.time", lambda: 4e9)
    assert pack_file(tmp_path / "train.py", [], []) == first


def test_a_file_that_is_not_there_or_not_python(tmp_path):
    with pytest.raises(Error, match="there is no file"):
        pack_file(tmp_path / "a.py", [], [])
    (tmp_path / "a.py").write_text("def :\n")
    with pytest.raises(Error, match=r"a\.py cannot be read: line 1"):
        pack_file(tmp_path / "a.py", [], [])
    (tmp_path / "a.ipynb").write_text('{"cells": []}')
    with pytest.raises(Error, match="`trainyard run a.ipynb`"):
        pack_file(tmp_path / "a.ipynb", [], [])


def test_a_function_is_called_with_its_arguments_and_a_trials_parameters(tmp_path):
    def train(rate, kind="none", job_dir=None):
        print(json.dumps([rate, kind, job_dir, math.floor(2.5)]))
    package = pack_function(train, {"rate": 0.5}, [])
    assert package.module == "trainyard_function" and package.wants_job_dir
    assert run_module(package, tmp_path).stdout == '[0.5, "none", null, 2]\n'
    assert run_module(package, tmp_path, "--kind=tree", "--rate=7", "--job-dir", "gs://b/1").stdout == '[7, "tree", "gs://b/1", 2]\n'


def test_a_function_without_a_job_dir_is_not_given_one(tmp_path):
    def train(first, second):
        print(first, second)
    package = pack_function(train, [1, "two"], [])
    assert not package.wants_job_dir
    assert run_module(package, tmp_path, "--job-dir", "gs://b/1").stdout == "1 two\n"


def test_functions_that_cannot_travel_say_why():
    near = 3

    def closure():
        return near

    def reaches_out():
        return outside

    def typo():
        return undefined_name  # noqa: F821

    for function, said in ((closure, "uses near of the function around it"), (reaches_out, "uses 'outside' from outside"),
                           (typo, "uses 'undefined_name', which is not defined"), (lambda: 1, "only a function made with `def`")):
        with pytest.raises(Error, match=said):
            pack_function(function, [], [])
    with pytest.raises(Error, match="travel as JSON"):
        pack_function(words, [object()], [])


def test_folders(tmp_path):
    (tmp_path / "app/trainer").mkdir(parents=True)
    (tmp_path / "app/trainer/__init__.py").write_text("")
    (tmp_path / "app/trainer/task.py").write_text("print('ran')\n")
    package = pack_folder(tmp_path / "app/trainer", "trainer.task", [], [])
    assert run_module(package, tmp_path / "out").stdout == "ran\n"
    with pytest.raises(Error, match="neither a Python file"):
        pack_folder(tmp_path / "app", None, [], [])
    (tmp_path / "app/setup.py").write_text("from setuptools import setup\n")
    with pytest.raises(Error, match="say which module"):
        pack_folder(tmp_path / "app", None, [], [])
    assert "app-1.0/trainer/task.py" in members(pack_folder(tmp_path / "app", "trainer.task", [], []))


def test_arguments():
    assert words({"epochs": 3, "rate": 0.1}) == ["--epochs=3", "--rate=0.1"]
    assert words(["--a", 1]) == ["--a", "1"]
    with pytest.raises(Error, match="a list"):
        words("--a")


def test_tokens_and_private_keys_are_not_sent(tmp_path):
    (tmp_path / "train.py").write_text("")
    (tmp_path / "ann.token").write_text("ty_" + 49 * "a" + "\n")
    (tmp_path / "key.json").write_text('{"private_key": "-----BEGIN PRIVATE KEY-----"}')
    (tmp_path / "notes.txt").write_text("the token is ty_" + 49 * "a")
    beside = files_beside(tmp_path)
    assert sorted(beside.files) == ["notes.txt", "train.py"]
    assert [name for name, _ in beside.left_behind] == ["ann.token", "key.json"]
