"""A plugin of pytest: tests that CI has no time for are skipped, so that a slow machine still says what it found."""

import os
import time

import pytest

UNTIL = float(os.environ.get("TRAINYARD_TESTS_UNTIL") or "inf")  # seconds since 1970


@pytest.hookimpl(tryfirst=True)  # before any fixture
def pytest_runtest_setup(item):
    if time.time() > UNTIL:
        pytest.skip("the time of CI was over")
