"""What a process writes to a pipe or a terminal, read with a limit."""

import os
import select
import time

DEADLINE_S = 300  # for anything that a test waits for: with sanitizers on a busy machine importing torch takes two minutes


class Output:
    """Reads a descriptor; what does not come in time fails the test with all that was read so far. What it has read, nobody else gets."""

    def __init__(self, source):
        """`source`: a descriptor, or a file that nothing was read from; the caller closes it."""
        self.descriptor = source if isinstance(source, int) else source.fileno()
        self.seen = b""
        self._taken = 0

    def until(self, text):
        """What comes next, to the end of the text; AssertionError if the output ends before."""
        end = self._find(text)
        assert end is not None, f"it ended without {text!r}: {self.seen!r}"
        return self._take(end)

    def line(self):
        """The next line as text; the rest where the output ends, "" at its end."""
        end = self._find(b"\n")
        return self._take(len(self.seen) if end is None else end).decode()

    def rest(self):
        """What comes until the end."""
        self._find(None)
        return self._take(len(self.seen))

    def _take(self, end):
        taken, self._taken = self.seen[self._taken:end], end
        return taken

    def _find(self, text):
        """Where the text ends that comes next; None: the output ended."""
        deadline = time.monotonic() + DEADLINE_S
        while text is None or text not in self.seen[self._taken:]:
            ready = select.select([self.descriptor], [], [], max(deadline - time.monotonic(), 0))[0]
            assert ready, f"waited in vain for {'the end' if text is None else repr(text)}: {self.seen!r}"
            try:
                part = os.read(self.descriptor, 65536)
            except OSError:  # a terminal's end: nobody has the other side open
                part = b""
            if not part:
                return None
            self.seen += part
        return self.seen.index(text, self._taken) + len(text)
