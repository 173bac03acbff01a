"""A plugin of pytest: tests that CI has no time for are skipped, so that a slow machine still says what it found."""

import math
import os
import random
import time

import pytest

UNTIL = float(os.environ.get("TRAINYARD_TESTS_UNTIL") or "inf")  # seconds since 1970


def pytest_collection_modifyitems(items):
    """Files with few tests come last (pytest-xdist), so those are skipped. Which of them are last differs from run to run: a file that
    is always last would never be tried. All workers of a run have the same order."""
    if math.isinf(UNTIL):
        return
    files = sorted({str(item.path) for item in items})
    random.Random(UNTIL).shuffle(files)
    places = {file: place for place, file in enumerate(files)}
    items.sort(key=lambda item: places[str(item.path)])


@pytest.hookimpl(tryfirst=True)  # before any fixture
def pytest_runtest_setup(item):
    if time.time() > UNTIL:
        pytest.skip("the time of CI was over")
