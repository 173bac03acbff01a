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
    assert runtime_of(files, "t.task") == "pytorch-2.15"
    assert runtime_of(files, "z") is None, "a.py is another program"
    assert runtime_of({**files, "z/__main__.py": b"import a\n"}, "z") == "2.15"
    near = {"p/task.py": b"from . import near\n", "p/near.py": b"import keras\n", "a.py": b"import torch\n"}
    assert runtime_of(near, "p.task") == "2.15"
    assert runtime_of({"a.py": b"print('torch')\n", "data.txt": b"import torch\n"}, "a") is None


def test_of_each_kind_of_program(tmp_path):
    (tmp_path / "train.py").write_text("import beside\n")
    (tmp_path / "beside.py").write_text("import torch\n")
    (tmp_path / "another.py").write_text("import keras\n")  # it is uploaded, but the program does not import it
    assert pack_file(tmp_path / "train.py", [], []).runtime == "pytorch-2.15"

    def train():
        import keras  # noqa: F401
    assert pack_function(train, [], []).runtime == "2.15"
    (tmp_path / "app/trainer").mkdir(parents=True)
    (tmp_path / "app/trainer/__init__.py").write_text("")
    (tmp_path / "app/trainer/task.py").write_text("import lightning\n")
    assert pack_folder(tmp_path / "app/trainer", "trainer.task", [], []).runtime == "pytorch-2.15"
    (tmp_path / "app/setup.py").write_text("from setuptools import setup\n")
    assert pack_folder(tmp_path / "app", "trainer.task", [], []).runtime == "pytorch-2.15"
