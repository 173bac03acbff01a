"""The master: gathers the workers, has all of them train as a group, and again if one is lost.

    gather --all are here--> form --done--> end
       ^                      | one is lost, or its process broke
       +------ abort ---------+

Every group begins with the last model in checkpoints/. A UserError of any replica ends the job with its text.
A replica that is told to stop (SIGTERM) has all leave after the same round, of which there is a checkpoint
then. If it is the master, whose job may be over, that is written as the model and it ends; else the others
wait for who has left, whose machine may be under maintenance.
One event loop; events of the connections and of the master's own process come through one queue.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainyard_algorithms.failure import Stopped, UserError, listen_in_loop, stopping
from trainyard_algorithms.xgb import checkpoints
from trainyard_algorithms.xgb.cluster import Cluster
from trainyard_algorithms.xgb.messages import LINE_BYTES_MAX, Connection, Lost, Message
from trainyard_algorithms.xgb.process import Member
from trainyard_algorithms.xgb.tracker import Tracker

GATHER_SECONDS_MAX = 3600.0  # that the master waits for all workers: their machines may still start
FINISH_SECONDS = 15.0  # that a process may take to leave when the training is done
LEAVE_SECONDS = 15.0  # that a round may take after a SIGTERM, which gives 30 in all
HELLO_SECONDS_MAX = 30.0
FRUITLESS_MAX = 5  # groups one after another that finished no round

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """What to train, and where it goes."""

    arguments: dict[str, Any]
    checkpoints: Path
    output: Path  #: the model's folder
    tag: str  #: hyperparameterMetricTag, or empty
    gpu: bool  #: this replica has one
    report: Callable[[int, dict[str, float]], None]
    publish: Callable[[], None]  #: after a checkpoint; does not block
    finish: Callable[[], None]  #: puts the model where it belongs, before the workers may end; blocks
    keep: Callable[[int, Path, dict[str, float]], None]  #: writes a checkpoint as the model; blocks


@dataclass(frozen=True)
class Event:
    rank: int
    message: Message
    connection: Connection | None = None  #: None: of the master's own process


@dataclass
class _State:
    workers: dict[int, Connection] = field(default_factory=dict)
    gpus: dict[int, bool] = field(default_factory=dict)
    group: int = 0  #: number of the group that trains, or trained last
    rounds: int = 0  #: the most that were done
    reported: int = 0
    metrics: dict[int, dict[str, float]] = field(default_factory=dict)  #: by round
    left: bool = False  #: the last group left early
    done: bool = False
    leaving: dict[int, Connection] = field(default_factory=dict)  #: workers that are told to stop
    limit: float | None = None  #: the loop's time until which the group may go on
    fruitless: int = 0
    why: str = ""  #: the last group broke


class Master:
    """run() once. The workers get the job's end however run() ends."""

    def __init__(self, cluster: Cluster, job: Job) -> None:
        self._cluster = cluster
        self._job = job
        self._address = cluster.host
        self._state = _State()
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Returns when the model is in job.output and job.finish() was called. UserError: a replica's, or a
        limit of this file. Stopped: this process was told to stop, and the model is the last checkpoint's."""
        server = await self._listen()
        listen_in_loop(lambda: self._events.put_nowait(Event(0, {})))
        text: str | None = "the master failed"
        try:
            while True:
                await self._gather()
                if await self._train():
                    await asyncio.to_thread(self._job.finish)
                    text = ""
                    return
        except Stopped:
            text = None
            await asyncio.to_thread(self._keep)
            raise
        except UserError as error:
            text = str(error)
            raise
        finally:
            await self._end(text)
            server.close()
            for task in self._tasks:
                task.cancel()

    async def _listen(self) -> asyncio.Server:
        try:
            self._address = socket.gethostbyname(self._cluster.host)
            return await asyncio.start_server(
                self._accept, self._address, self._cluster.port, limit=LINE_BYTES_MAX, reuse_address=True
            )
        except OSError as error:
            where = f"{self._cluster.host}:{self._cluster.port}"
            raise UserError(
                f"The master cannot listen on {where}, its address in TF_CONFIG: {error.strerror}."
            ) from error

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A worker's connection, until it is lost."""
        connection = Connection(reader, writer)
        rank = 0
        try:
            rank = await self._hello(connection)
            while True:
                message, _ = await connection.receive()
                await self._events.put(Event(rank, message, connection))
        except (Lost, TimeoutError, KeyError, TypeError, ValueError) as error:
            if rank:
                await self._events.put(Event(rank, {"lost": str(error)}, connection))
            else:
                peer = writer.get_extra_info("peername")
                LOG.warning("A connection from %s was refused: %s.", peer, error or type(error).__name__)
        finally:
            connection.close()

    async def _hello(self, connection: Connection) -> int:
        """The worker's rank. Lost and others: it is none of this job; anyone may connect, so the job goes on
        without it."""
        async with asyncio.timeout(HELLO_SECONDS_MAX):
            hello, _ = await connection.receive()
        rank = int(hello["hello"])
        if not 0 < rank < self._cluster.size:
            raise Lost("it is no worker of this job")
        if hello.get("arguments") != self._job.arguments:
            text = f"Worker {rank - 1} has other arguments than the master"
            await connection.send({"end": f"{text}."})
            raise Lost(text)
        await self._events.put(Event(rank, hello, connection))
        return rank

    async def _gather(self) -> None:
        """Waits until all workers are connected. Stopped: this process was told to."""
        limit = time.monotonic() + GATHER_SECONDS_MAX
        self._drop_leaving()
        missing = self._missing()
        if stopping():
            raise Stopped
        if missing:
            LOG.info("Waiting for %s.", ", ".join(f"worker {rank - 1}" for rank in missing))
        while self._missing():
            try:
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + limit - time.monotonic()):
                    event = await self._events.get()
            except TimeoutError:
                gone = ", ".join(f"worker {rank - 1}" for rank in self._missing())
                raise UserError(
                    f"{gone} did not connect to the master within {GATHER_SECONDS_MAX:g} s."
                ) from None
            self._members(event)
            self._drop_leaving()
            if stopping():
                raise Stopped

    def _drop_leaving(self) -> None:
        """They end by themselves; that is no loss."""
        state = self._state
        for rank, connection in state.leaving.items():
            if state.workers.get(rank) is connection:
                del state.workers[rank]
        state.leaving.clear()

    def _missing(self) -> list[int]:
        return [rank for rank in range(1, self._cluster.size) if rank not in self._state.workers]

    def _members(self, event: Event) -> str:
        """Notes who is here. The reason, if that is the end of a group."""
        state = self._state
        if "hello" in event.message and event.connection is not None:
            before = state.workers.get(event.rank)
            state.workers[event.rank] = event.connection
            state.gpus[event.rank] = bool(event.message.get("gpu"))
            LOG.info("Worker %d is here.", event.rank - 1)
            if before is None:
                return ""
            before.close()
            return f"worker {event.rank - 1} started anew"
        if "leaving" in event.message and event.connection is not None:
            LOG.info("Worker %d is told to stop.", event.rank - 1)
            state.leaving[event.rank] = event.connection
        if "lost" in event.message and state.workers.get(event.rank) is event.connection:
            del state.workers[event.rank]
            if state.leaving.get(event.rank) is event.connection:  # after that round, or in it
                self._limit(FINISH_SECONDS)
                return ""
            return f"worker {event.rank - 1} is lost: {event.message['lost']}"
        return ""

    async def _train(self) -> bool:
        """One group, from the last checkpoint. Whether the training is done."""
        state = self._state
        state.group += 1
        state.why, state.left, state.limit = "", False, None
        begun_with = state.rounds
        tracker = Tracker(self._cluster.size)
        plan = await asyncio.to_thread(self._plan)
        plan["tracker"] = await tracker.start(self._address)
        own = await Member.start({**plan, "rank": 0})
        reading = asyncio.create_task(self._read(own, state.group))
        self._tasks.add(reading)
        try:
            await self._start(plan)
            await self._follow(own)
            await own.wait(FINISH_SECONDS if not stopping() else 1.0)
            if not state.left:
                return True
        except Lost as error:
            state.why = str(error)
        finally:
            await own.kill()
            await reading
            self._tasks.discard(reading)
            tracker.close()
        if self._caught_up():
            return True
        if state.left and not stopping():
            LOG.info("The replicas left after round %d. It goes on when all are here.", state.rounds)
        if state.left or stopping():
            return False
        LOG.warning("The training stopped: %s. It goes on when all replicas are here.", state.why)
        await self._tell({"abort": state.group})
        state.fruitless = state.fruitless + 1 if state.rounds == begun_with else 0
        if state.fruitless >= FRUITLESS_MAX:
            raise UserError(
                f"The training was begun {FRUITLESS_MAX} times and finished no round: {state.why}."
            )
        return False

    def _plan(self) -> dict[str, Any]:
        job, state = self._job, self._state
        found = checkpoints.latest(job.checkpoints)
        if found is not None:
            LOG.info("Going on after round %d, from %s.", found[0], found[1].name)
        gpus = job.gpu and all(state.gpus.values())
        return {
            "args": job.arguments,
            "size": self._cluster.size,
            "device": "cuda" if gpus else "cpu",
            "model": str(found[1]) if found else None,
            "checkpoints": str(job.checkpoints),
            "output": str(job.output),
            "tag": job.tag,
        }

    async def _read(self, own: Member, group: int) -> None:
        while True:
            message = await own.receive()
            await self._events.put(Event(0, {**message, "group": group}))
            if "ended" in message:
                return

    async def _follow(self, own: Member) -> None:
        """Events of a group until the training is done or the group has left. Lost: it broke."""
        while True:
            try:
                async with asyncio.timeout_at(self._state.limit):
                    event = await self._events.get()
            except TimeoutError:
                raise Lost("the round takes too long to wait for its end") from None
            if stopping():
                self._limit(LEAVE_SECONDS)
            why = self._members(event)
            if why:
                raise Lost(why)
            if stopping() or self._state.leaving:
                own.stop()
            if event.message.get("group") == self._state.group and self._heard(event):
                return

    def _limit(self, seconds: float) -> None:
        """The group may go on so long, unless that was limited before."""
        if self._state.limit is None:
            self._state.limit = asyncio.get_running_loop().time() + seconds

    def _caught_up(self) -> bool:
        """Takes what was said before the group broke. Whether the training was done by then."""
        while not self._events.empty():
            event = self._events.get_nowait()
            self._members(event)
            if event.rank == 0 and event.message.get("group") == self._state.group:
                self._of_own(event.message)
        return self._state.done

    def _heard(self, event: Event) -> bool:
        """What a member says. Whether the group has ended its work. Lost, UserError: it cannot go on."""
        message = event.message
        who = f"worker {event.rank - 1}" if event.rank else "the master"
        if "refused" in message:
            raise UserError(str(message["refused"]))
        if "broken" in message:
            raise Lost(f"{who}: {message['broken']}")
        if "ended" in message and not (event.rank and message["ended"] == "it ended with status 0"):
            raise Lost(f"the process of {who} is gone: {message['ended']}")
        if event.rank == 0:
            self._of_own(message)
        return self._state.done or self._state.left

    def _of_own(self, message: Message) -> None:
        """What the master's own process says of the training."""
        if "round" in message:
            self._round(int(message["round"]), message["metrics"])
        if "checkpoint" in message:
            self._job.publish()
        if "left" in message:
            self._state.left = True
            self._round(int(message["left"]), message["metrics"], last=stopping())
        if "done" in message:
            self._state.done = True
            self._round(int(message["done"]), message["metrics"], last=True)

    def _round(self, rounds: int, metrics: dict[str, float], last: bool = False) -> None:
        """Reports a round, once, however often it is done."""
        state = self._state
        state.rounds = max(state.rounds, rounds)
        state.metrics[rounds] = metrics
        due = last or rounds % self._job.arguments["eval_log_period"] == 0
        if due and metrics and rounds > state.reported:
            state.reported = rounds
            self._job.report(rounds, metrics)

    def _keep(self) -> None:
        """Of a training that is stopped: the last checkpoint is the model, and its metrics are told last."""
        found = checkpoints.latest(self._job.checkpoints)
        if found is None:
            LOG.warning("Told to stop before a model was saved: there is none.")
            return
        rounds, path = found
        metrics = self._state.metrics.get(rounds, {})
        if metrics and rounds < self._state.reported:
            self._job.report(self._state.reported, metrics)
        self._job.keep(rounds, path, metrics)

    async def _start(self, plan: dict[str, Any]) -> None:
        """Tells the workers to train, with the model that all of them go on with."""
        model = await asyncio.to_thread(Path(plan["model"]).read_bytes) if plan["model"] else b""
        message = {"start": self._state.group, "plan": plan}
        LOG.info(
            "%d replicas train on the %s.", self._cluster.size, "GPUs" if plan["device"] == "cuda" else "CPUs"
        )
        await self._tell(message, model)

    async def _tell(self, message: dict[str, Any], blob: bytes = b"") -> None:
        """To all workers. One that cannot be told is noticed as lost by its connection."""

        async def one(connection: Connection) -> None:
            try:
                await connection.send(message, blob)
            except Lost as error:
                LOG.info("A worker cannot be told: %s.", error)

        await asyncio.gather(*(one(each) for each in self._state.workers.values()))

    async def _end(self, text: str | None) -> None:
        """None: this process is gone, and the workers wait for the next one."""
        if text is not None:
            await self._tell({"end": text})
        for each in self._state.workers.values():
            each.close()
