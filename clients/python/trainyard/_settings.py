"""Finds the server and the project as the `trainyard` command does."""

from __future__ import annotations

import configparser
import json
import os
import pathlib
from typing import Any, Dict, Optional, Tuple

DEFAULT_SERVER = "http://127.0.0.1:8470"
DEFAULT_PROJECT = "trainyard"


def find_server(given: Optional[str]) -> Tuple[str, str]:
    """The server's address, and where it was found: the argument, TRAINYARD_SERVER, the note of a server on this machine, the default."""
    if given:
        return given.rstrip("/"), "the argument"
    if os.environ.get("TRAINYARD_SERVER"):
        return os.environ["TRAINYARD_SERVER"].rstrip("/"), "TRAINYARD_SERVER"
    url = str(_note().get("url", ""))
    if url:
        return url, str(_note_file())
    return DEFAULT_SERVER, "the default"


def find_project(given: Optional[str]) -> str:
    """The argument, CLOUDSDK_CORE_PROJECT, gcloud's core/project, GOOGLE_CLOUD_PROJECT, the note, "trainyard"."""
    return (given or os.environ.get("CLOUDSDK_CORE_PROJECT") or _gcloud_project() or os.environ.get("GOOGLE_CLOUD_PROJECT")
            or str(_note().get("project", "")) or DEFAULT_PROJECT)


def _data_directory() -> pathlib.Path:
    if os.environ.get("TRAINYARD_DATA"):
        return pathlib.Path(os.environ["TRAINYARD_DATA"])
    if os.environ.get("XDG_DATA_HOME", "").startswith("/"):
        return pathlib.Path(os.environ["XDG_DATA_HOME"]) / "trainyard"
    return pathlib.Path(os.environ.get("HOME") or "/root") / ".local/share/trainyard"


def _note_file() -> pathlib.Path:
    return _data_directory() / "run/server.json"


def _note() -> Dict[str, Any]:
    """What a running server wrote down; empty if there is none."""
    try:
        note = json.loads(_note_file().read_text())
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


def _gcloud_project() -> Optional[str]:
    folder = pathlib.Path(os.environ.get("CLOUDSDK_CONFIG") or os.path.join(os.environ.get("HOME", ""), ".config/gcloud"))
    active = os.environ.get("CLOUDSDK_ACTIVE_CONFIG_NAME")
    try:
        active = active or (folder / "active_config").read_text().strip()
    except OSError:
        active = "default"
    file = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        file.read(folder / "configurations" / ("config_" + active))
    except configparser.Error:
        return None
    return file.get("core", "project", fallback=None) or None
