"""The shell of a replica, over WebSocket, as one of webAccessUris gives it."""

import re

import websocket

from process_output import DEADLINE_S


class ReplicaShell(websocket.WebSocket):
    """A connection that keeps what it has read: two things that are waited for may come in one message, or one in two."""

    def __init__(self, **options):
        super().__init__(**options)
        self._shown = ""

    def until(self, pattern):
        """The match in what the terminal shows next; what stands behind it is kept for the next call."""
        while not (found := re.search(pattern, self._shown)):
            self._shown += self.recv().decode(errors="replace")
        self._shown = self._shown[found.end():]
        return found


def connect(uri):
    """Raises what the WebSocket client raises where the server refuses."""
    return websocket.create_connection(uri.replace("http://", "ws://"), timeout=DEADLINE_S, class_=ReplicaShell)
