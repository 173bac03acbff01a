"""The weights, held by the parameter server and used by the trainers through a proxy of multiprocessing's."""

import threading
import time
from multiprocessing.managers import BaseManager

_KEY = b"trainyard example"  # not a secret: the server listens at its own address in the cluster only
_PATIENCE = 120.0  # seconds to wait for a replica that is being restarted


class Weights:
    """Thread-safe: the manager answers each trainer in a thread of its own."""

    def __init__(self, size, trainers, rate):
        self._values, self._step = [0.0] * size, 0
        self._trainers, self._rate = trainers, rate
        self._gradients, self._changed = {}, threading.Condition()

    def pull(self):
        """(step, values)"""
        with self._changed:
            return self._step, list(self._values)

    def push(self, rank, step, gradient, rows):
        """Adds a trainer's gradient (a sum over so many rows) to `step`; returns when all have and it is applied.

        Sending the same again is harmless: a trainer that was restarted begins with the step that the others are at.
        """
        with self._changed:
            if step == self._step:
                self._gradients[rank] = (gradient, rows)
                if len(self._gradients) == self._trainers:
                    self._apply()
            if not self._changed.wait_for(lambda: self._step > step, timeout=_PATIENCE):
                raise TimeoutError("only %d of %d trainers sent step %d" % (len(self._gradients), self._trainers, step))
            return self._step, list(self._values)

    def _apply(self):
        total = sum(rows for _, rows in self._gradients.values())
        for rank in sorted(self._gradients):  # in order, so that sums round the same way each time
            for i, slope in enumerate(self._gradients[rank][0]):
                self._values[i] -= self._rate * slope / total
        self._gradients.clear()
        self._step += 1
        self._changed.notify_all()


class _Manager(BaseManager):
    pass


def serve(address, weights):
    """Answers for ever."""
    _Manager.register("weights", callable=lambda: weights, exposed=["pull", "push"])
    _Manager(address=address, authkey=_KEY).get_server().serve_forever()


def connect(address):
    """A proxy of the server's weights, as soon as that is up."""
    _Manager.register("weights", exposed=["pull", "push"])
    give_up = time.monotonic() + _PATIENCE
    while True:
        try:
            manager = _Manager(address=address, authkey=_KEY)
            manager.connect()
            return manager.weights()
        except (OSError, EOFError):
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)
