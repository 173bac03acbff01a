"""What is sent of a program: without a server."""

import io
import json
import math
import subprocess
import sys
import tarfile

import pytest

from trainyard import Error
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


def test_a_file_takes_along_what_it_imports_from_beside_it(tmp_path):
    (tmp_path / "my-train.py").write_text("import json, model\nfrom data.load import rows\nprint(model.name, rows)\n")
    (tmp_path / "model.py").write_text("import deeper\nname = deeper.name\n")
    (tmp_path / "deeper.py").write_text("name = 'deep'\n")
    (tmp_path / "unused.py").write_text("")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/__init__.py").write_text("")
    (tmp_path / "data/load.py").write_text("rows = 3\n")
    package = pack_file(tmp_path / "my-train.py", ["--a"], ["lightgbm"])
    top = "my_train-1.0/"
    assert package.file_name == "my_train-1.0.tar.gz" and package.module == "my_train" and package.args == ["--a"]
    assert set(members(package)) == {top + name for name in (
        "PKG-INFO", "setup.py", "my_train.py", "model.py", "deeper.py", "data/__init__.py", "data/load.py")}
    setup = members(package)[top + "setup.py"].decode()
    assert "'install_requires': ['lightgbm']" in setup and "'packages': ['data']" in setup
    assert run_module(package, tmp_path / "out").stdout == "deep 3\n"


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
