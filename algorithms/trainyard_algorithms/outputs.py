"""Small files beside a model."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_deployment_config(
    model: Path, framework: str, labels: Mapping[str, str], runtime_version: str | None = None
) -> None:
    """Writes deployment_config.yaml into the folder `model`: the framework and, as labels, metrics as text.

    @param labels  `accuracy` is in percent, as the original's; `global_step` (observed: ai-platform-samples).
    The other keys are those of a model version in the original's API, which such a file can describe.
    """
    lines = [f"framework: {framework}", "labels:" if labels else "labels: {}"]
    lines += [f"  {quoted(name)}: {quoted(str(labels[name]))}" for name in sorted(labels)]
    lines.append(f'pythonVersion: "{sys.version_info.major}.{sys.version_info.minor}"')
    if runtime_version:
        lines.append(f"runtimeVersion: {quoted(runtime_version)}")
    write(model / "deployment_config.yaml", "\n".join(lines) + "\n")


def quoted(text: str) -> str:
    """A YAML string; a word of letters needs no quotes."""
    return text if text.replace("_", "").isalpha() and text.isascii() else json.dumps(text)


def write_json(path: Path, content: Any) -> None:
    """Writes `content` readably, in the same bytes each time."""
    write(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write(path: Path, text: str) -> None:
    """The whole file or none: readers never see half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.half")
    half.write_text(text, "utf-8")
    half.replace(path)
