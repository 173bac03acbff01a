"""A trainer's package stands alone, so that what several packages need is copied into each. The copies are equal."""

import pytest

from trainyard_server import ROOT


@pytest.mark.parametrize("pattern", ["examples/*/trainer/job_dir.py", "tests/trainers/*/trainer/jobdir.py"])
def test_copies_are_equal(pattern):
    # The example "distributed" does without any client library: its module does more.
    copies = {path.read_text() for path in ROOT.glob(pattern) if path.parent.parent.name != "distributed"}
    assert len(copies) == 1, f"{len(copies)} versions of {pattern}"
