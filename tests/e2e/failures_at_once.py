"""A plugin of pytest: says of a failed test what it was and how the machine did, when it fails. A run that is cut off has no
summary."""

import os
import shutil
import tempfile

import pytest

REASON_CHARS_MAX = 600  # the summary at the end has all


@pytest.hookimpl(trylast=True)  # after the terminal's own, which makes the reporter
def pytest_configure(config):
    terminal = config.pluginmanager.getplugin("terminalreporter")
    if terminal and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(FailuresAtOnce(terminal))


class FailuresAtOnce:
    def __init__(self, terminal):
        self.terminal = terminal

    def pytest_runtest_logreport(self, report):
        if not report.failed:
            return
        reason = getattr(getattr(report.longrepr, "reprcrash", None), "message", None) or str(report.longrepr)
        free_gib = shutil.disk_usage(tempfile.gettempdir()).free / 2**30
        machine = f"{report.duration:.0f} s, load {os.getloadavg()[0]:.1f}, {free_gib:.1f} GiB of disk free"
        self.terminal.write_line(f"\n{report.when} of {report.nodeid} failed ({machine}): {reason[:REASON_CHARS_MAX]}")
