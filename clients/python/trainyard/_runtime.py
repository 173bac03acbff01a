"""Which runtime version a program wants, by what it imports."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Mapping, Optional

# `trainyard run` has the rule: src/cli/run/program_package.cc. tests/test_runtime.py sees to it that these are the same.
FRAMEWORKS: Dict[str, str] = {
    "torch": "pytorch-2.15",
    "torchvision": "pytorch-2.15",
    "torchaudio": "pytorch-2.15",
    "lightning": "pytorch-2.15",
    "pytorch_lightning": "pytorch-2.15",
    "tensorflow": "2.15",
    "tf_keras": "2.15",
    "keras": "2.15",
    "tensorflow_datasets": "2.15",
}


def runtime_of(files: Mapping[str, bytes], module: str) -> Optional[str]:
    """The runtime version of the first framework that is imported; None: the server's default.

    The module's own file comes first, then the files that it may import, and so on. Other files do not count.
    """
    path = module.replace(".", "/")
    reached = [name for name in (path + ".py", path + "/__main__.py") if name in files]
    others = sorted(name for name in files if name.endswith(".py") and name not in reached)
    for name in reached:  # which grows
        text = files[name].decode(errors="replace")
        names = list(imported_modules(text))
        for imported in names:
            if imported in FRAMEWORKS:
                return FRAMEWORKS[imported]
        reached += [other for other in others if other not in reached and _may_import(name, text, names, other)]
    return None


def _may_import(name: str, text: str, names: List[str], other: str) -> bool:
    """Whether one of the imports may be of the other file: of that name, or relative and beside it."""
    folder = name[:name.rfind("/") + 1]
    places = [other] + ([other[len(folder):]] if other.startswith(folder) else [])
    return ("from ." in text and other.startswith(folder)) or any(
        place == imported + ".py" or place.startswith(imported + "/") for imported in names for place in places)


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
