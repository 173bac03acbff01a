"""The program as it is installed elsewhere, and what it asks of the machine that it is copied to."""

import os
import pathlib
import re
import subprocess

from trainyard_server import PROGRAM, ROOT

SOURCES = ("src", "proto", "data", "cmake", "CMakeLists.txt", "CMakePresets.json")


def newest_program():
    """$TRAINYARD_RELEASE; else the release build, if it is not older than the last commit of its sources; else what is tested."""
    if "TRAINYARD_RELEASE" in os.environ:
        return pathlib.Path(os.environ["TRAINYARD_RELEASE"])
    release = ROOT / "build/release/trainyard"
    told = subprocess.run(["git", "log", "-1", "--format=%ct", "--", *SOURCES], cwd=ROOT, capture_output=True, text=True)
    if release.exists() and told.returncode == 0 and release.stat().st_mtime > int(told.stdout or 0):
        return release
    return pathlib.Path(PROGRAM)


def libraries(program):
    """The shared libraries that the dynamic linker must find."""
    dynamic = subprocess.run(["readelf", "--dynamic", "--wide", program], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.*?)\]", dynamic))


def glibc_symbols(program):
    """What the program takes of glibc: name -> version, as (2, 34)."""
    symbols = subprocess.run(["readelf", "--dyn-syms", "--wide", program], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"UND (\S+?)@GLIBC_(\d+)\.(\d+)", symbols)
    return {name: (int(major), int(minor)) for name, major, minor in found}


def make_wheel(folder, program=None, *flags):
    """Of the program, with further flags of make_wheel.py."""
    command = [ROOT / "packaging/make_wheel.py", program or newest_program(), "--out", folder, *flags]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    return pathlib.Path(made.stdout.strip())
