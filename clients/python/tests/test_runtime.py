"""Which runtime version is asked for: without a server."""

import pathlib
import re

from trainyard._package import pack_file, pack_folder, pack_function
from trainyard._runtime import FRAMEWORKS, imported_modules, runtime_of

RULE = pathlib.Path(__file__).resolve().parents[3] / "src/cli/run/program_package.cc"


def test_the_table_is_that_of_the_command():
    text = RULE.read_text()
    versions = dict(re.findall(r'string_view (k\w+) = "([^"]+)"', text))
    rows = re.findall(r'\{"(\w+)", (k\w+)\}', text)
    assert rows and {name: versions[version] for name, version in rows} == FRAMEWORKS


def test_each_form_of_import():
    source = ("import os, torch.nn as nn  # import keras\n  from tensorflow.keras import layers\nfrom . import near\nfrom .near import x\n"
              "importlib = 1\nprint('import')\nimport numpy")
    assert list(imported_modules(source)) == ["os", "torch", "tensorflow", "numpy"]


def test_the_modules_own_file_comes_first():
    files = {"a.py": b"import tensorflow\n", "t/task.py": b"import torch\n", "z/__main__.py": b"import os\n", "data.txt": b"import torch\n"}
    assert runtime_of(files, "t.task") == "pytorch"
    assert runtime_of(files, "z") == runtime_of(files, "absent") == "2.15"
    assert runtime_of({"a.py": b"print('torch')\n", "data.txt": b"import torch\n"}, "a") is None


def test_of_each_kind_of_program(tmp_path):
    (tmp_path / "train.py").write_text("import beside\n")
    (tmp_path / "beside.py").write_text("import torch\n")
    (tmp_path / "unused.py").write_text("import keras\n")
    assert pack_file(tmp_path / "train.py", [], []).runtime == "pytorch"

    def train():
        import keras  # noqa: F401
    assert pack_function(train, [], []).runtime == "2.15"
    (tmp_path / "app/trainer").mkdir(parents=True)
    (tmp_path / "app/trainer/__init__.py").write_text("")
    (tmp_path / "app/trainer/task.py").write_text("import lightning\n")
    assert pack_folder(tmp_path / "app/trainer", "trainer.task", [], []).runtime == "pytorch"
    (tmp_path / "app/setup.py").write_text("from setuptools import setup\n")
    assert pack_folder(tmp_path / "app", "trainer.task", [], []).runtime == "pytorch"
