"""The process that trains as one of a group; the parent's side is process.py.

Every member listens on two ports that the system chooses, on all addresses, and reaches the others at the
addresses from which they came to the master's tracker.
"""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, TextIO, cast

from trainyard_algorithms.failure import UserError, start_log

COLLECTIVE_SECONDS = 1800  # XGBoost's limit for one exchange: the slowest replica's reading of its data
CONNECT_TRIES = 5

LOG = logging.getLogger(__name__)


class Printed(io.TextIOBase):
    """What libraries print, as lines of the log: XGBoost says on stdout who is in the group."""

    def __init__(self) -> None:
        self._rest = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in filter(None, lines):
            LOG.info("%s", line)
        return len(text)


class Channel:
    """Messages to the parent, on what was stdout; what is not printed by Python goes to stderr."""

    def __init__(self) -> None:
        self._file: IO[str] = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        sys.stdout = cast(TextIO, Printed())
        self._lock = threading.Lock()

    def say(self, **message: Any) -> None:
        with self._lock:
            self._file.write(json.dumps(message) + "\n")
            self._file.flush()


def main() -> None:
    """Trains by the plan on stdin, to the end or until a line there says "stop". Ends with status 0 whatever
    happened: the messages say it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the parent's to act on
    start_log()
    channel = Channel()
    plan = json.loads(sys.stdin.readline())
    told = threading.Event()
    threading.Thread(target=_listen, args=(told,), daemon=True).start()
    try:
        _member(plan, channel, told)
    except UserError as error:
        channel.say(refused=str(error))
    except MemoryError:
        channel.say(refused="There is not enough memory for this replica's part of the data.")
    except Exception as error:
        _unexpected(error, channel)
    logging.shutdown()
    os._exit(0)  # XGBoost's threads may wait for a peer that is gone


def _listen(told: threading.Event) -> None:
    """Until the parent ends, and then so does this process."""
    while line := sys.stdin.readline():
        if line.strip() == "stop":
            told.set()
    os._exit(1)


def _unexpected(error: Exception, channel: Channel) -> None:
    """What may be the end of another replica is tried again; a fault of the program is not."""
    import xgboost as xgb

    from trainyard_algorithms.xgb import refusal

    if isinstance(error, xgb.core.XGBoostError) and refusal.is_collective(error):
        channel.say(broken=f"the replicas lost each other: {refusal.reason(error)}")
    elif isinstance(error, (OSError, xgb.core.XGBoostError)):
        channel.say(broken=f"{type(error).__name__}: {refusal.reason(error)}")
    else:
        LOG.exception("Training failed.")
        channel.say(refused=f"Training failed: {type(error).__name__}: {refusal.reason(error)}.")


def _member(plan: dict[str, Any], channel: Channel, told: threading.Event) -> None:
    """Joins the group, reads this replica's data, trains."""
    with _group(plan["tracker"], plan["rank"]):
        _train(plan, channel, told)


@contextmanager
def _group(tracker: dict[str, Any], rank: int) -> Iterator[None]:
    from xgboost import collective

    context = collective.CommunicatorContext(
        dmlc_communicator="rabit",
        dmlc_tracker_uri=tracker["host"],
        dmlc_tracker_port=tracker["port"],
        dmlc_task_id=str(rank),
        dmlc_timeout=COLLECTIVE_SECONDS,
        dmlc_retry=CONNECT_TRIES,
    )
    with context:
        if collective.get_rank() != rank:
            raise RuntimeError(f"rank {collective.get_rank()} in place of {rank}")
        yield


def _train(plan: dict[str, Any], channel: Channel, told: threading.Event) -> None:
    import xgboost as xgb

    from trainyard_algorithms.xgb import checkpoints, labels, metrics, parameters, saving, shares, training

    args = SimpleNamespace(**plan["args"])
    chosen = parameters.settings(args, "xgboost_dist", device=plan["device"], replicas=plan["size"])
    names = metrics.wanted(args.eval_metric, chosen.objective, chosen.params, plan["tag"])
    if args.disable_default_eval_metric and not args.eval_metric:
        names = ()
    share = shares.read(args, chosen, plan["rank"], plan["size"])
    chosen = labels.applied(chosen, share.classes)
    LOG.info("This replica has %s.", share.told)
    with training.refusals():
        train, judged = share.matrices(chosen)
    part = "validation" if judged is not None else "training"
    start = xgb.Booster(model_file=plan["model"]) if plan["model"] else None
    last: dict[str, float] = {}

    def report(rounds: int, parts: dict[str, dict[str, float]]) -> None:
        last.update(parts.get(part, {}))
        channel.say(round=rounds, metrics=last)

    more = [training.Ends(lambda: bool(shares.agreed(int(told.is_set()))))]  # all after the same round
    if plan["rank"] == 0:
        more.append(_saves(plan, channel))
    if start is not None and start.num_boosted_rounds() >= chosen.rounds:
        booster = start
        last = training.evaluate(booster, judged or train, chosen, names) if names else {}
    else:
        booster = training.train(chosen, train, [(judged or train, part)], names, report, more, start)
    if plan["rank"] == 0:
        rounds = booster.num_boosted_rounds()
        checkpoints.save(booster, Path(plan["checkpoints"]), rounds)
        if rounds < chosen.rounds:
            channel.say(left=rounds, metrics=last)
            return
        saving.save(booster, Path(plan["output"]), saving.labels(last, rounds))
        channel.say(done=rounds, metrics=last)


def _saves(plan: dict[str, Any], channel: Channel) -> Any:
    """A callback that saves a model every so many rounds."""
    from xgboost.callback import TrainingCallback

    from trainyard_algorithms.xgb import checkpoints

    folder = Path(plan["checkpoints"])
    period = int(plan["args"]["model_saving_period"])

    class Saves(TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            if period and (epoch + 1) % period == 0:
                checkpoints.save(model, folder, epoch + 1)
                channel.say(checkpoint=epoch + 1)
            return False

    return Saves()


if __name__ == "__main__":
    main()
