"""Which runtime version a program wants, by what it imports."""

from __future__ import annotations

import re
from typing import Dict, Iterator, Mapping, Optional

# `trainyard run` has the rule: src/cli/run/program_package.cc. tests/test_runtime.py sees to it that these are the same.
FRAMEWORKS: Dict[str, str] = {
    "torch": "pytorch",
    "torchvision": "pytorch",
    "torchaudio": "pytorch",
    "lightning": "pytorch",
    "pytorch_lightning": "pytorch",
    "tensorflow": "2.15",
    "tf_keras": "2.15",
    "keras": "2.15",
    "tensorflow_datasets": "2.15",
}


def runtime_of(files: Mapping[str, bytes], module: str) -> Optional[str]:
    """The runtime version of the first framework that is imported, the module's own file first; None: the server's default."""
    path = module.replace(".", "/")
    own = [name for name in (path + ".py", path + "/__main__.py") if name in files]
    for name in own + sorted(name for name in files if name.endswith(".py")):
        for imported in imported_modules(files[name].decode(errors="replace")):
            if imported in FRAMEWORKS:
                return FRAMEWORKS[imported]
    return None


def imported_modules(source: str) -> Iterator[str]:
    """Top-level names, line by line; a line in a string may count, too."""
    for line in source.split("\n"):
        line = line.lstrip(" \t")
        if line.startswith("from "):
            words = [line[len("from "):]]
        elif line.startswith("import "):  # "import os, torch.nn as nn"
            words = line[len("import "):].partition("#")[0].split(",")
        else:
            continue
        for word in words:
            found = re.match(r"[ \t]*(\w+)", word, re.ASCII)
            if found:
                yield found.group(1)
