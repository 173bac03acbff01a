"""How long a server that was reached before may be away: as long as it is started again."""

from __future__ import annotations

import time
from typing import Callable, Optional, TypeVar

from trainyard._errors import Error, Unreachable

PATIENCE_S = 30.0  # as that of the command's logs: kReconnectMax in src/cli/jobs/stream_logs.cc
_FIRST_PAUSE_S = 0.05
_PAUSE_MAX_S = 2.0

Answer = TypeVar("Answer")


class Absence:
    """The time for which nothing has been heard of a server. One thread at a time."""

    def __init__(self, patience: float = PATIENCE_S) -> None:
        self._patience = patience
        self._since: Optional[float] = None
        self._pause = _FIRST_PAUSE_S

    def is_over(self) -> None:
        """The server was heard: the next absence begins anew."""
        self._since = None

    def next_pause(self) -> Optional[float]:
        """Seconds to wait before it is asked again; None: it was away for longer than the patience lasts."""
        now = time.monotonic()
        if self._since is None:
            self._since, self._pause = now, _FIRST_PAUSE_S
        else:
            self._pause = min(self._pause * 2, _PAUSE_MAX_S)
        left = self._patience - (now - self._since)
        return min(self._pause, left) if left > 0 else None


def may_pass(error: Error) -> bool:
    """Whether a server that is just starting, or has too much to do, may answer otherwise soon."""
    return isinstance(error, Unreachable) or error.code == 429 or (error.code or 0) >= 500


def ask(question: Callable[[], Answer], patience: float = PATIENCE_S) -> Answer:
    """The answer, as soon as there is one; the error if there is none for `patience` seconds. Only for what may be asked twice."""
    absence = Absence(patience)
    while True:
        try:
            return question()
        except Error as error:
            pause = absence.next_pause() if may_pass(error) else None
            if pause is None:
                raise
        time.sleep(pause)
