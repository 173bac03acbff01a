"""What clients asked for and what they were told, kept outside of the server's data directory.

A key is one thing that has a value: a job's presence, its labels, an object's content. Each key is changed by one client, one question
after the other, so that its operations have an order. From them follows which values the server may show.
"""

import json
import threading
import time
from dataclasses import dataclass
from typing import Any

ABSENT = None  # the value of what was never made, or was deleted


@dataclass
class Operation:
    key: tuple[str, ...]
    value: Any
    begun: float
    ended: float | None = None  # None: the server died with the question open
    acknowledged: bool = False  # else refused, once it has ended


class Ledger:
    def __init__(self, path):
        self._file = open(path, "a", encoding="utf-8")
        self._lock = threading.Lock()
        self._operations: dict[tuple[str, ...], list[Operation]] = {}
        self.acknowledged: dict[str, int] = {}  # kind of key -> how many operations

    def close(self):
        self._file.close()

    def begin(self, key, value):
        operation = Operation(key, value, time.monotonic())
        with self._lock:
            self._operations.setdefault(key, []).append(operation)
            self._write(operation)
        return operation

    def end(self, operation, acknowledged):
        with self._lock:
            operation.ended, operation.acknowledged = time.monotonic(), acknowledged
            if acknowledged:
                self.acknowledged[operation.key[0]] = self.acknowledged.get(operation.key[0], 0) + 1
            self._write(operation)

    def settle(self, key, value):
        """The server has shown this value, and nothing is under way that changes it: it must not show another one later."""
        with self._lock:
            now = time.monotonic()
            self._operations[key] = [Operation(key, value, now, now, True)]

    def forget(self, key):
        with self._lock:
            self._operations.pop(key, None)

    def save(self):
        with self._lock:
            return {key: [Operation(**operation.__dict__) for operation in some] for key, some in self._operations.items()}

    def load(self, saved):
        with self._lock:
            self._operations = {key: list(some) for key, some in saved.items()}

    def keys(self, kind):
        with self._lock:
            return [key for key in self._operations if key[0] == kind]

    def has(self, key):
        with self._lock:
            return key in self._operations

    def allowed(self, key):
        """The values that the server may show: what was acknowledged last, and what was asked for since without an answer."""
        with self._lock:
            values = [ABSENT]
            for operation in self._operations.get(key, []):
                if operation.ended is None:
                    values.append(operation.value)
                elif operation.acknowledged:
                    values = [operation.value]
            return values

    def lose_since(self, moment, begun_before=float("inf")):
        """A power cut: what was acknowledged after the moment may be there or not; so may what it replaced. Not what was begun later than
        that: it was acknowledged although the disk was gone."""
        with self._lock:
            for operations in self._operations.values():
                for operation in operations:
                    if (operation.ended is not None and operation.ended >= moment and operation.begun < begun_before
                            and operation.acknowledged):
                        operation.ended, operation.acknowledged = None, False

    def _write(self, operation):
        self._file.write(json.dumps({"at": time.monotonic(), **operation.__dict__}) + "\n")
        self._file.flush()
