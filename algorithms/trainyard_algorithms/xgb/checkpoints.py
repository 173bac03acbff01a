"""Models of some rounds in the job's folder, from which a training goes on."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard_algorithms.outputs import write_json

KEPT = 3
_DONE = "done"
_NAME = re.compile(r"round-(\d{9})\.ubj")
_OF = "training.json"  #: what the models in the folder are of, and whether that is done


def path(folder: Path, rounds: int) -> Path:
    return folder / f"round-{rounds:09d}.ubj"


def latest(folder: Path) -> tuple[int, Path] | None:
    """The most rounds that there are, and the file."""
    found = sorted(
        (int(match[1]), each) for each in folder.iterdir() if (match := _NAME.fullmatch(each.name))
    )
    return found[-1] if found else None


def save(booster: Any, folder: Path, rounds: int) -> None:
    """Writes a model, whole or not at all, and removes all but the last few."""
    part = folder / ".part.ubj"
    booster.save_model(part)
    os.replace(part, path(folder, rounds))
    for each in sorted(each for each in folder.iterdir() if _NAME.fullmatch(each.name))[:-KEPT]:
        each.unlink(missing_ok=True)


def begin(folder: Path, training: Mapping[str, Any]) -> bool:
    """Whether the models in `folder` are of this training, which its job and arguments are.

    If not, they are removed: a job does not go on with what another left.
    """
    same = {**_mark(folder), _DONE: False} == {**training, _DONE: False}
    if not same:
        clear(folder)
        write_json(folder / _OF, dict(training))
    return same


def finish(folder: Path) -> None:
    """Notes that the training of begin() is done: its model is where it belongs."""
    write_json(folder / _OF, {**_mark(folder), _DONE: True})


def finished(folder: Path) -> bool:
    return _mark(folder).get(_DONE) is True


def clear(folder: Path) -> None:
    """Removes the models and what they are of."""
    clear_models(folder)
    (folder / _OF).unlink(missing_ok=True)


def clear_models(folder: Path) -> None:
    for each in folder.iterdir():
        if _NAME.fullmatch(each.name):
            each.unlink(missing_ok=True)


def _mark(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / _OF).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
