"""Promises under kill -9, by the harness in tests/chaos: its short form, and that it sees what is wrong."""

import json
import os
import subprocess
import sys

import pytest

from trainyard_server import PROGRAM, ROOT

SEED = 36  # of every run: what is killed when is drawn from it


@pytest.fixture
def chaos(environments, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("the harness needs root")

    def play(*words):
        figures = tmp_path / "figures.json"
        done = subprocess.run(
            [sys.executable, str(ROOT / "tests/chaos/run.py"), "--program", PROGRAM, "--environments", str(environments), "--seed", str(SEED),
             "--json", str(figures), *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(figures.read_text())

    return play


def test_kills_break_no_promise(chaos):
    figures = chaos("--world", "root", "--rounds", "1")
    assert figures["counts"]["rounds"] == 1
    assert figures["counts"]["SIGKILL of server"] > 0 and figures["acknowledged"]["job"] > 0


def test_power_cuts_break_no_promise(chaos):
    figures = chaos("--world", "power-ext4", "--rounds", "3")
    assert figures["counts"]["power cut on ext4"] == 3


def test_the_harness_sees_what_is_changed_behind_the_servers_back(chaos):
    counts = chaos("--world", "tampered", "--rounds", "1")["counts"]
    assert counts["changes seen"] == counts["changes made"] > 10
