"""What every engine does, on a real Kubernetes: the suite that this machine's engine passes, too."""

import json
import os
import pathlib
import re
import subprocess

from kube_cluster import KubeCluster
from trainyard_server import PROGRAM, ROOT

SUITE = ROOT / "src/engine/testing/engine_conformance.h"
CONFORMANCE = pathlib.Path(PROGRAM).parent / "tests/support/kubernetes_conformance"  # which ./dev test builds beside it
TESTS_LIMIT_S = 600


def test_the_engine_of_a_cluster_does_what_every_engine_does(tmp_path):
    with KubeCluster(2, cpus="2.2", program=CONFORMANCE) as cluster:  # room for kRoom pods of one CPU
        done = subprocess.run([CONFORMANCE, f"--gtest_output=json:{tmp_path}/results.json"],
                              env={**os.environ, **cluster.env()}, capture_output=True, text=True, timeout=TESTS_LIMIT_S)
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:] + cluster.logs()
    suites = json.loads((tmp_path / "results.json").read_text())["testsuites"]
    passed = [case["name"] for suite in suites for case in suite["testsuite"] if case["result"] == "COMPLETED"]
    assert sorted(passed) == sorted(re.findall(r"TYPED_TEST_P\(EngineConformance, (\w+)\)", SUITE.read_text()))
