"""The process that trains, as its parent sees it: one for each time that the replicas form a group.

XGBoost's collective waits for a peer that is gone until its own time limit and cannot be called off from
outside; a process can be killed. The child reads one line of JSON, trains, and says how it goes on stdout. It
ends when its stdin does, so none outlives its parent.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard_algorithms.paths import TEMPORARY, temporary
from trainyard_algorithms.xgb.messages import LINE_BYTES_MAX, Message


class Member:
    """A running child. The owner calls kill() in the end."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._told = False

    @classmethod
    async def start(cls, plan: Mapping[str, Any]) -> Member:
        package = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "trainyard_algorithms.xgb.member",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE_BYTES_MAX,
            close_fds=False,  # the log's, if this process was given one: it has each line's severity
            process_group=0,  # what the parent's is told (SIGTERM) the parent passes on: stop()
            # The parent's folder: it outlives the child, which is killed, and what was copied stays there.
            env={**os.environ, "PYTHONPATH": path, TEMPORARY: str(temporary())},
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(plan).encode() + b"\n")
        return cls(process)

    async def receive(self) -> Message:
        """The next message; at the end {"ended": how}."""
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if line.endswith(b"\n"):
            message: Message = json.loads(line)
            return message
        return {"ended": described(await self._process.wait())}

    def stop(self) -> None:
        """Has it, and with it the whole group, leave after the round that it is in."""
        if not self._told and self._process.stdin is not None:
            self._process.stdin.write(b"stop\n")
        self._told = True

    async def wait(self, seconds: float | None) -> None:
        """Until it has ended by itself, but no longer than `seconds`; None: however long that takes."""
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
        except TimeoutError:
            pass

    async def kill(self) -> None:
        """Ends it, if it has not ended. When this returns, it is gone."""
        if self._process.returncode is None:
            try:
                self._process.kill()
            except ProcessLookupError:
                pass
        await self._process.wait()


def described(status: int) -> str:
    """How a process ended, for the log."""
    if status == -9:
        return "it was killed (signal 9); not enough memory is the usual reason"
    return f"it was ended by signal {-status}" if status < 0 else f"it ended with status {status}"
