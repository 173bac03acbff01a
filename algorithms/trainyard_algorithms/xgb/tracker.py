"""Where the members of a group find each other: what XGBoost's collective calls its tracker.

The library's own one asks for the machine's address even if it is given one, and fails where there is no
route to other networks: in a replica's own network, or on a machine without any. The protocol is that of
XGBoost 2.1 (src/collective/protocol.h): numbers are int32 in the machine's order, texts have their length
before them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import struct
from dataclasses import dataclass
from typing import Any

MAGIC = 0xFF99
TEXT_BYTES_MAX = 1 << 20
START, PRINT = 1, 4  # of the commands; the others need no answer
FIRST_SECONDS_MAX = 60.0  # that a connection may be silent before its first command

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Member:
    host: str
    port: int
    writer: asyncio.StreamWriter


class Tracker:
    """Of one group. One event loop; close() when the group has ended."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._members: dict[int, _Member] = {}
        self._server: asyncio.Server | None = None

    async def start(self, address: str) -> dict[str, Any]:
        """Listens on a port that the system chooses. {"host", "port"}: where. OSError: it cannot."""
        self._server = await asyncio.start_server(self._accept, address, 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        return {"host": host, "port": port}

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for member in self._members.values():
            member.writer.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(FIRST_SECONDS_MAX):
                await self._serve(reader, writer)
        except (OSError, ValueError, KeyError, TypeError, TimeoutError, EOFError) as error:
            LOG.debug("A connection to the tracker ended: %r", error)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One command. The connection of a member that starts is answered when all have."""
        writer.write(struct.pack("=i", MAGIC))
        if struct.unpack("=i", await reader.readexactly(4))[0] != MAGIC:
            raise ValueError("not XGBoost")
        who = await _receive(reader)
        command = await _receive(reader)
        if command["cmd"] != START:
            if command["cmd"] == PRINT:
                LOG.info("%s", command["msg"])
            writer.close()
            return
        rank = int(who["task_id"])
        if not 0 <= rank < self._size or rank in self._members:
            raise ValueError(f"rank {rank} is not expected")
        _send(writer, {"world_size": self._size})
        self._members[rank] = _Member(writer.get_extra_info("peername")[0], int(command["port"]), writer)
        if len(self._members) == self._size:
            self._answer()

    def _answer(self) -> None:
        """Tells each member who follows it; the last one is followed by the first."""
        for rank, member in self._members.items():
            following = (rank + 1) % self._size
            other = self._members[following]
            _send(member.writer, {"host": other.host, "port": other.port, "rank": following})
            member.writer.close()


def _send(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    text = json.dumps(message).encode()
    writer.write(struct.pack("=i", len(text)) + text)


async def _receive(reader: asyncio.StreamReader) -> dict[str, Any]:
    (length,) = struct.unpack("=i", await reader.readexactly(4))
    if not 0 < length <= TEXT_BYTES_MAX:
        raise ValueError("a text of this length is not expected")
    message = json.loads(await reader.readexactly(length))
    if not isinstance(message, dict):
        raise ValueError("not an object")
    return message
