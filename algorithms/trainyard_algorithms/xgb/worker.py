"""A worker: does what the master says, and finds it again when the connection or the master is lost."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from trainyard_algorithms.failure import Stopped, UserError, listen_in_loop
from trainyard_algorithms.paths import made
from trainyard_algorithms.xgb.cluster import Cluster
from trainyard_algorithms.xgb.messages import LINE_BYTES_MAX, Connection, Lost, Message
from trainyard_algorithms.xgb.process import Member

CONNECT_SECONDS_MAX = 3600.0  # that the master may be away: its machine may still start, or start anew
CONNECT_PAUSE_SECONDS = 0.5
FINISH_SECONDS = 15.0

LOG = logging.getLogger(__name__)


class Worker:
    """run() once. One event loop."""

    def __init__(self, cluster: Cluster, arguments: dict[str, Any], gpu: bool) -> None:
        self._cluster = cluster
        self._arguments = arguments
        self._gpu = gpu
        self._connection: Connection | None = None
        self._member: Member | None = None
        self._reading: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Returns when the master says that it is done. UserError: it says why not, or is not found.
        Stopped: this process was told to stop, and has left the group, if there was one, after a round."""
        told = asyncio.Event()
        listen_in_loop(told.set)
        working = asyncio.create_task(self._work())
        hearing = asyncio.create_task(told.wait())
        await asyncio.wait({working, hearing}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            await self._leave(working)
        hearing.cancel()
        working.cancel()
        try:
            await working
        except asyncio.CancelledError:
            raise Stopped from None

    async def _leave(self, working: asyncio.Task[None]) -> None:
        """Returns when this replica's process has left the group, or there is none."""
        if self._member is None or self._connection is None:
            return
        LOG.info("Told to stop: the replicas leave after this round.")
        ended = asyncio.create_task(self._member.wait(None))
        try:
            await self._connection.send({"leaving": True})
            await asyncio.wait({working, ended}, return_when=asyncio.FIRST_COMPLETED)
        except Lost:
            pass  # nobody is left to agree with
        ended.cancel()

    async def _work(self) -> None:
        while True:
            connection = self._connection = await self._connect()
            try:
                await self._serve(connection)
                return
            except Lost as error:
                LOG.warning("The master is lost: %s.", error)
            finally:
                await self._stop()
                connection.close()
                self._connection = None

    async def _connect(self) -> Connection:
        limit = time.monotonic() + CONNECT_SECONDS_MAX
        where = f"{self._cluster.host}:{self._cluster.port}"
        told = False
        while True:
            try:
                reader, writer = await asyncio.open_connection(
                    self._cluster.host, self._cluster.port, limit=LINE_BYTES_MAX
                )
            except OSError as error:
                if time.monotonic() > limit:
                    raise UserError(
                        f"The master at {where} was not found within {CONNECT_SECONDS_MAX:g} s: {error}."
                    ) from error
                if not told:
                    LOG.info("Waiting for the master at %s.", where)
                told = True
                await asyncio.sleep(CONNECT_PAUSE_SECONDS)
                continue
            return Connection(reader, writer, blobs=True)

    async def _serve(self, connection: Connection) -> None:
        hello = {"hello": self._cluster.rank, "gpu": self._gpu, "arguments": self._arguments}
        await connection.send(hello)
        LOG.info("Connected to the master.")
        while True:
            message, blob = await connection.receive()
            if "abort" in message:
                await self._stop()
            if "start" in message:
                await self._stop()
                await self._start(message, blob, connection)
            if "end" in message:
                await self._finish(str(message["end"]))
                return

    async def _start(self, message: Message, blob: bytes, connection: Connection) -> None:
        plan = {**message["plan"], "rank": self._cluster.rank, "model": None}
        if blob:
            model = made() / "model.ubj"
            await asyncio.to_thread(model.write_bytes, blob)
            plan["model"] = str(model)
        self._member = await Member.start(plan)
        self._reading = asyncio.create_task(self._read(self._member, message["start"], connection))

    async def _read(self, member: Member, group: int, connection: Connection) -> None:
        """Passes on what the process says but its rounds, which the master's own says too."""
        while True:
            message = await member.receive()
            if "round" not in message:
                try:
                    await connection.send({**message, "group": group})
                except Lost:
                    return  # receive() says so as well
            if "ended" in message:
                return

    async def _finish(self, text: str) -> None:
        if text:
            raise UserError(text)
        if self._member is not None:
            await self._member.wait(FINISH_SECONDS)

    async def _stop(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
        if self._member is not None:
            await self._member.kill()
        self._member = self._reading = None
