"""Pods of hollow nodes: their volumes, their containers' states, and what a kubelet makes of these."""

import contextlib
import datetime
import os
import pathlib
import shutil
import threading
from typing import Any

from kube_containers import CannotStart, ContainerProcess, user_of


def now(timespec="seconds"):
    return datetime.datetime.now(datetime.UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


class HollowPod:
    """A pod that a node has taken. It runs its init containers one after the other, and then all others at once.

    @param folder  its own
    @param image  files that its containers have beside this machine's: path -> where it is here
    @param kept  folders that outlive the pod: path in the pod -> folder here
    """

    def __init__(self, pod, folder, *, image, kept):
        self.pod, self.folder, self.image, self.kept = pod, pathlib.Path(folder), image, kept
        self.uid, self.node = pod["metadata"]["uid"], pod["spec"]["nodeName"]
        self.path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        self.started = now()
        spec = pod["spec"]
        # Each is begun with what it has: one init container, or all others.
        self.steps = [[container] for container in spec.get("initContainers", [])] + [spec["containers"]]
        self.step = 0  # the next one
        self.states: dict[str, Any] = {
            container["name"]: {"waiting": {"reason": "PodInitializing" if len(self.steps) > 1 else "ContainerCreating"}}
            for containers in self.steps for container in containers}
        self.processes: dict[str, ContainerProcess] = {}
        self.lock = threading.Lock()  # of steps, states and processes
        self.reporting = threading.Lock()  # held while a state is reported: reports keep their order
        self.has_begun = threading.Event()  # a process of it has, or never will
        self.has_ended = threading.Event()  # no process of it lives, and none will begin
        self.is_deleted = threading.Event()
        self.is_gone = False  # its object does not exist any more
        self.is_lost = False  # with its node's power

    # What it runs. The thread that begins a step has to live as long as the processes.

    def begin(self, step, unpullable, api):
        """Begins a step, if it is the next one and the pod is not over, and returns the names of the containers that run.

        OSError: the API server is away, and nothing has begun. `unpullable`: image -> reason and message.
        """
        with self.lock:
            if step != self.step or self.is_deleted.is_set() or self.is_gone:
                return []
            failures = {}
            begun = {}
            try:
                for container in self.steps[step]:
                    try:
                        if container["image"] in unpullable:
                            raise CannotStart(*unpullable[container["image"]])
                        begun[container["name"]] = ContainerProcess(self.pod, container, self.folder, self._mounts(container), api)
                    except CannotStart as why:
                        failures[container["name"]] = {"waiting": {"reason": why.reason, "message": why.message}}
            except OSError:
                for process in begun.values():
                    process.kill()
                shutil.rmtree(self.folder / "layers", ignore_errors=True)
                raise
            self.step += 1
            self.processes.update(begun)
            self.states.update(failures)
            self.states.update({name: {"running": {"startedAt": now()}} for name in begun})
            self._note_end()
        self.has_begun.set()
        return list(begun)

    def end(self, name):
        """Waits for the end of a container's process, and takes it down. Returns the step that follows, if one does."""
        process = self.processes[name]
        code = process.wait()
        with self.lock:
            if self.is_lost:  # nobody knows how it has ended
                return None
            started = self.states[name]["running"]["startedAt"]
            reason = process.why or ("Error" if code else "Completed")
            self.states[name] = {"terminated": {"exitCode": code, "reason": reason, "startedAt": started, "finishedAt": now()}}
            self._note_end()
            return None if self.has_ended.is_set() or self.step == len(self.steps) else self.step

    def _note_end(self):
        states = [self.states[container["name"]] for containers in self.steps[:self.step] for container in containers]
        lives = any("running" in state for state in states)
        goes_on = self.step < len(self.steps) and not self.is_deleted.is_set() and all(code_of(state) == 0 for state in states)
        if not lives and not goes_on:
            self.has_ended.set()

    def terminate(self):
        """SIGTERM for the programs of its containers, once. False: one of them has not begun yet."""
        with self.lock:
            self._note_end()  # no step follows any more
            running = [process for process in self.processes.values() if process.is_running()]
        untold = [process for process in running if not process.terminate()]
        return not untold

    def kill(self, *names, why=None):
        """Containers, or all. Their processes are gone when this returns."""
        with self.lock:
            processes = [process for name, process in self.processes.items() if not names or name in names]
        for process in processes:
            if process.is_running():
                process.kill(why)

    def remove(self):
        """What it has written, once it has ended. Its log stays."""
        for name in ("layers", "volumes"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def _mounts(self, container):
        """As ContainerProcess has them. A volume in memory is each container's own."""
        user = user_of(self.pod["spec"], container)
        volumes = {volume["name"]: volume for volume in self.pod["spec"].get("volumes", [])}
        group = self.pod["spec"].get("securityContext", {}).get("fsGroup", user)
        mounts = []
        for mount in container.get("volumeMounts", []):
            if volumes[mount["name"]].get("emptyDir", {}).get("medium") == "Memory":
                mounts.append(("memory", mount["mountPath"]))
                continue
            folder = self.folder / "volumes" / mount["name"]
            if not folder.exists():
                folder.mkdir(parents=True)
                os.chown(folder, 0, group)
                folder.chmod(0o2777)  # as fsGroup gives it
            mounts.append((folder, mount["mountPath"]))
            for path, source in self.kept.items():
                if path.startswith(mount["mountPath"] + "/"):
                    make_owned(folder, path.removeprefix(mount["mountPath"] + "/"), user)
                    os.chown(source, user, user)
                    mounts.append((source, path))
        return mounts + [(source, path) for path, source in self.image.items()]

    # What a kubelet says of it.

    def status(self):
        init, own = ([self._status_of(container) for container in self.pod["spec"].get(kind, [])] for kind in ("initContainers", "containers"))
        phase = phase_of([status["state"] for status in init], [status["state"] for status in own])
        is_ready = all(status["ready"] for status in own)
        is_initialized = all(code_of(status["state"]) == 0 for status in init)
        conditions = [{"type": kind, "status": "True" if is_it else "False", "lastTransitionTime": now()}
                      for kind, is_it in (("Initialized", is_initialized), ("Ready", is_ready), ("ContainersReady", is_ready))]
        return {"phase": phase, "startTime": self.started, "hostIP": "127.0.0.1", "podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}],
                "conditions": conditions, "containerStatuses": own, **({"initContainerStatuses": init} if init else {})}

    def _status_of(self, container):
        state = self.states[container["name"]]
        is_running = "running" in state
        return {"name": container["name"], "image": container["image"], "imageID": container["image"], "ready": is_running, "started": is_running,
                "restartCount": 0, "state": state}

    def set_all_ended(self, code, reason):
        """Of containers of which nothing else is known."""
        with self.lock:
            for name, state in self.states.items():
                if "terminated" not in state:
                    self.states[name] = {"terminated": {"exitCode": code, "reason": reason, "startedAt": self.started, "finishedAt": now()}}
            self._note_end()


def code_of(state):
    """The exit status of a container; None: it has not ended."""
    return state.get("terminated", {}).get("exitCode")


def phase_of(init, own):
    """That of a pod that is never restarted, from the states of its containers, as a kubelet finds it."""
    if any(code_of(state) for state in init):
        return "Failed"
    if any("waiting" in state for state in own) or any(code_of(state) is None for state in init):
        return "Pending"
    if any("running" in state for state in own):
        return "Running"
    return "Failed" if any(code_of(state) for state in own) else "Succeeded"


def make_owned(folder, path, user):
    for name in path.split("/"):
        folder = folder / name
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        os.chown(folder, user, user)
