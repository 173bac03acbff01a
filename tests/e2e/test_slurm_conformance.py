"""What every engine does, on a real Slurm: the suite that this machine's engine passes, too."""

import json
import os
import pathlib
import re
import subprocess

from slurm_cluster import SlurmCluster
from trainyard_server import PROGRAM, ROOT

SUITE = ROOT / "src/engine/testing/engine_conformance.h"
CONFORMANCE = pathlib.Path(PROGRAM).parent / "tests/support/slurm_conformance"  # which ./dev test builds beside it
TESTS_LIMIT_S = 900  # each waits for Slurm a few times


def test_the_engine_of_a_cluster_does_what_every_engine_does(tmp_path):
    with SlurmCluster(2, cpus=2) as cluster:  # kRoom CPUs
        done = subprocess.run([CONFORMANCE, cluster.folder / "trainyard", f"--gtest_output=json:{tmp_path}/results.json"],
                              env={**os.environ, **cluster.env()}, capture_output=True, text=True, timeout=TESTS_LIMIT_S)
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:] + cluster.logs()
    suites = json.loads((tmp_path / "results.json").read_text())["testsuites"]
    passed = [case["name"] for suite in suites for case in suite["testsuite"] if case["result"] == "COMPLETED"]
    assert sorted(passed) == sorted(re.findall(r"TYPED_TEST_P\(EngineConformance, (\w+)\)", SUITE.read_text()))
