"""Messages between the replicas: a line of JSON, which "blob": N says is followed by N bytes.

The connection is the replicas' sign of life: each side sends a beat, and one that is silent is lost. It goes
through the job's network only and carries no secret, as XGBoost's own connections.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

BEAT_SECONDS = 5.0  # between two signs of life
SILENT_SECONDS_MAX = 60.0  # then the other side is lost: its machine or network is gone
BLOB_SECONDS_MAX = 600.0  # that a model may take
BLOB_BYTES_MAX = 4 << 30
LINE_BYTES_MAX = 1 << 20  # of a message without its blob; one has a command line's arguments

Message = dict[str, Any]


class Lost(Exception):
    """The other side is gone, or speaks something else; str(e) says which."""


class Connection:
    """One side of a connection. One event loop; close() ends the beats. The reader's own limit is
    LINE_BYTES_MAX."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, blobs: bool = False
    ) -> None:
        """blobs: whether the other side, which anyone may be, may send them."""
        self._blob_bytes_max = BLOB_BYTES_MAX if blobs else 0
        self._reader = reader
        self._writer = writer
        self._beats = asyncio.create_task(self._beat())

    async def send(self, message: Mapping[str, Any], blob: bytes = b"") -> None:
        """Lost: it cannot be sent."""
        head = {**message, "blob": len(blob)} if blob else dict(message)
        try:
            self._writer.write(json.dumps(head).encode() + b"\n" + blob)
            async with asyncio.timeout(BLOB_SECONDS_MAX if blob else SILENT_SECONDS_MAX):
                await self._writer.drain()
        except (OSError, TimeoutError) as error:
            raise Lost(str(error) or "nothing can be sent") from error

    async def receive(self) -> tuple[Message, bytes]:
        """The next message that is no beat. Lost: none will come."""
        while True:
            try:
                async with asyncio.timeout(SILENT_SECONDS_MAX):
                    line = await self._reader.readline()
                if not line.endswith(b"\n"):
                    raise Lost("the connection was closed")
                message = json.loads(line)
                size = int(message.get("blob", 0))
                if not 0 <= size <= self._blob_bytes_max:
                    raise Lost("a message is too long")
                async with asyncio.timeout(BLOB_SECONDS_MAX):
                    blob = await self._reader.readexactly(size)
            except TimeoutError as error:
                raise Lost(f"nothing was heard for {SILENT_SECONDS_MAX:g} s or more") from error
            except (
                OSError,
                ValueError,
                TypeError,
                AttributeError,
                RecursionError,
                asyncio.IncompleteReadError,
            ) as error:
                raise Lost(f"the connection broke: {error}") from error
            if "beat" not in message:
                return message, blob

    def close(self) -> None:
        self._beats.cancel()
        self._writer.close()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self._writer.write(b'{"beat": 1}\n')
