"""The checks of tools/gpu_check.sh, in order. Each prints one line; the status says whether one failed."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from nvml import Gpu, NoNvml, Nvml
from pack import write_image, write_wheel
from service import Late, Service, kill, processes_with

HERE = pathlib.Path(__file__).resolve().parent
TRAINER = HERE / "gpu_trainer.py"
GIB = 1 << 30
CONTEXT_BYTES = GIB  # a process's context on a large GPU takes some hundred megabytes beside what it allocates
NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
ONE_GPU = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4"}
ACCELERATOR = {"type": "NVIDIA_TESLA_T4", "count": "1"}  # any GPU of the machine stands for it
MARKER = "/gcs/packages/restarted"  # a bucket is a folder in packages and in containers
STAND_IN_PLACE = "/opt/stand-in/libcuda.so.1"


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Failed(otherwise)


def gib(size: float) -> str:
    return f"{size / GIB:.2f} GiB"


def pythons_with_pip() -> list[str]:
    """Versions of which the first interpreter, in the server's order, can make an environment without a network."""
    folders = ["/usr/bin", "/usr/local/bin", *os.environ.get("PATH", "").split(":")]
    found = []
    for version in (f"3.{minor}" for minor in range(8, 16)):
        programs = [path for folder in folders if (path := pathlib.Path(folder) / f"python{version}").is_file()]
        asked = programs and subprocess.run([programs[0], "-I", "-c", "import ensurepip, venv"], capture_output=True, check=False)
        if asked and asked.returncode == 0:
            found.append(version)
    return found


class StandIn:
    """Libraries that play a GPU."""

    def __init__(self, folder: pathlib.Path) -> None:
        state = folder / "allocations"
        state.mkdir(mode=0o777)
        state.chmod(0o777)  # whatever the mask says: replicas may be other accounts
        self.trouble = folder / "allocations.trouble"
        self.cuda = folder / "libcuda.so.1"
        self.nvml = folder / "libnvidia-ml.so.1"
        compiler = shutil.which("c++") or shutil.which("clang++-19") or "c++"
        subprocess.run([compiler, "-shared", "-fPIC", "-static-libgcc", "-static-libstdc++", f'-DSTATE="{state}"', str(HERE / "stand_in.cc"),
                        "-o", str(self.cuda)], check=True)
        shutil.copy(self.cuda, self.nvml)

    def variables(self) -> dict[str, str]:
        # The C++ runtime in an unloaded library leaves a block behind, which a build with sanitizers calls a leak.
        sanitizer = f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0".lstrip(":")
        return {"LD_LIBRARY_PATH": str(self.nvml.parent), "TRAINYARD_NVML": str(self.nvml), "ASAN_OPTIONS": sanitizer}


class Checks:
    def __init__(self, program: str, work: pathlib.Path, stand_in: StandIn | None, cleanup: contextlib.ExitStack) -> None:
        self.work, self.stand_in = work, stand_in
        try:
            self.nvml = Nvml(str(stand_in.nvml) if stand_in else None)
            self.gpus: list[Gpu] = self.nvml.gpus()
        except NoNvml as error:
            raise Failed(f"NVIDIA's management library cannot be asked, so nothing can be checked here: {error}") from error
        self.mig_uuids = self.nvml.mig_uuids()
        expect(bool(self.gpus), "NVML answers, and finds no GPU" + (" without MIG" if self.mig_uuids else ""))
        variables = stand_in.variables() if stand_in else {}
        pythons = pythons_with_pip()
        # Without packages, so that its environment needs no network.
        runtime = {"version": "gpu-check", "pythons": pythons or ["3.8"], "packages": []}
        self.server = Service(program, work / "data", runtime, variables)
        cleanup.callback(self.server.stop)
        self.no_package = "" if pythons else "no Python of this machine has ensurepip (Debian: apt install python3-venv)"
        self.no_container = self._make_image()
        self.module = {"packageUris": [self.server.upload(write_wheel(TRAINER, work))], "pythonModule": TRAINER.stem}

    def _make_image(self) -> str:
        """Why there is none; empty if there is one."""
        missing = [] if shutil.which("crun") or shutil.which("runc") else ["crun or runc"]
        missing += [] if shutil.which("skopeo") else ["skopeo"]
        if missing:
            return f"this machine has no {' and no '.join(missing)}"
        self.image = write_image(TRAINER, self.work / "image", {STAND_IN_PLACE: self.stand_in.cuda} if self.stand_in else {})
        return ""

    # Jobs.

    def package_job(self, job_id: str, *arguments: str, gpus: bool = True) -> None:
        if self.no_package:
            raise Skipped(self.no_package)
        library = ["--libcuda", str(self.stand_in.cuda)] if self.stand_in else []
        config = {"masterConfig": {"acceleratorConfig": ACCELERATOR}} if gpus else {}
        self.server.submit(job_id, {**ONE_GPU, **self.module, **config, "args": [*library, *arguments]})

    def container_job(self, job_id: str, *arguments: str) -> None:
        if self.no_container:
            raise Skipped(self.no_container)
        library = ["--libcuda", STAND_IN_PLACE] if self.stand_in else []
        config = {"imageUri": self.image, "acceleratorConfig": ACCELERATOR}
        self.server.submit(job_id, {**ONE_GPU, "masterConfig": config, "args": [*library, *arguments]})

    def job(self, job_id: str, *arguments: str) -> None:
        """A package job where one can be, else a container's."""
        if self.no_package:
            self.container_job(job_id, *arguments)
        else:
            self.package_job(job_id, *arguments)

    def check_own_gpu(self, job_id: str, report: dict[str, Any]) -> str:
        expect(report["count"] == 1, f"the program sees {report['count']} GPUs; it was given one")
        held = self.server.status(job_id)["replicas"][0].get("gpus", [])
        expect(held == [report["uuid"]], f"the program's GPU is {report['uuid']}, the service gave it {held}")
        expect(report["uuid"] in [gpu.uuid for gpu in self.gpus], f"NVML does not know {report['uuid']}")
        expect(len(report["files"]) <= 1, f"it can open the device files of other GPUs: {report['files']}")
        taken = report["free_before"] - report["free_after"]
        expect(taken >= report["size"], f"it allocated {gib(report['size'])}, and only {gib(taken)} less are free")
        return f"{report['uuid']}, {gib(report['size'])} of {gib(report['total'])} by {report['library']}"

    # The checks.

    def inventory(self) -> str:
        said = self.server.said()
        for gpu in self.gpus:
            line = f"{gpu.name}, {gpu.memory_bytes // GIB} GiB, {gpu.uuid}"
            expect(line in said, f"the server does not list '{line}': {said[-2000:]}")
        word = "1 GPU" if len(self.gpus) == 1 else f"{len(self.gpus)} GPUs"
        expect(f"this machine has {word}" in said, f"the server does not say '{word}': {said[-2000:]}")
        return f"{word}: {', '.join(sorted({gpu.name for gpu in self.gpus}))}"

    def device_files(self) -> str:
        if self.stand_in:
            raise Skipped("the stand-in needs no device file")
        if pathlib.Path("/dev/dxg").exists():
            return "/dev/dxg (WSL)"
        needed = ["/dev/nvidiactl", "/dev/nvidia-uvm"]
        missing = [path for path in needed if not pathlib.Path(path).exists()]
        advice = "nvidia-modprobe" in self.server.said()
        expect(not missing, f"{', '.join(missing)} not there; the server {'says' if advice else 'does not say'} what makes it")
        return ", ".join(needed) + (", made by the server" if "made /dev/nvidia" in self.server.said() else "")

    def doctor(self) -> str:
        said = self.server.doctor()
        missing = [gpu.uuid for gpu in self.gpus if gpu.uuid not in said]
        expect(not missing, f"admin doctor does not list {missing}: {said}")
        return said

    def health(self) -> str:
        healthy = self.server.healthy()
        wanted = [*(gpu.uuid for gpu in self.gpus), *self.mig_uuids]
        out = [uuid for uuid in wanted if not healthy.get(uuid)]
        expect(not out, f"out of service, or not in /metrics: {out}")
        return f"{len(wanted)} of {len(wanted)} in service"

    def mig(self) -> str:
        if not self.mig_uuids:
            raise Skipped("no GPU has MIG devices")
        missing = [uuid for uuid in self.mig_uuids if uuid not in self.server.said()]
        expect(not missing, f"the server does not list {missing}")
        return ", ".join(self.mig_uuids)

    def one_model(self) -> str:
        names = {gpu.name for gpu in self.gpus}
        if len(names) < 2:
            raise Skipped("all GPUs are of one model")
        count = 1 << (len(self.gpus).bit_length() - 1)
        if count <= max(sum(gpu.name == name for gpu in self.gpus) for name in names):
            raise Skipped(f"there are {count} GPUs of one model")
        self.server.submit("mixed", {"scaleTier": "CUSTOM", "masterType": "n1-highmem-32", **self.module,
                                     "masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": str(count)}}})
        waiting = self.server.until(lambda: self.server.status("mixed").get("waiting"), "the reason of the wait", "mixed")
        expect("of one model" in waiting["reason"], f"the reason is: {waiting}")
        return waiting["reason"]

    def fails_and_returns(self) -> str:
        if not self.stand_in:
            raise Skipped("with --stand-in only: no GPU is harmed here")
        uuid = self.gpus[0].uuid
        self.job("holder", "--gib", "1", "--then", "hold")
        self.server.report("holder", "allocated")
        self.stand_in.trouble.write_text("lost")
        self.server.until(lambda: True if self.server.healthy()[uuid] is False else None, "the GPU out of service", "holder")
        said = self.server.until(lambda: next((text for text in self.server.texts("holder") if "is in trouble" in text), None),
                                 "the trouble in the log of the job that has the GPU", "holder")
        expect(uuid in said, f"the job's log says: {said}")
        expect(self.server.job("holder")["state"] == "RUNNING", "the job that has the GPU does not go on")
        self.server.cancel("holder")
        self.server.wait("holder")
        self.job("patient", "--gib", "1")
        waiting = self.server.until(lambda: self.server.status("patient").get("waiting"), "the reason of the wait", "patient")
        expect("does not answer" in waiting["reason"], f"the reason is: {waiting}")
        self.stand_in.trouble.unlink()
        job = self.server.wait("patient")
        expect(job["state"] == "SUCCEEDED", job.get("errorMessage", job["state"]))
        expect("is healthy again" in self.server.said(), "the server does not say that the GPU is back")
        return waiting["reason"]

    def package_uses_its_gpu(self) -> str:
        self.package_job("package", "--gib", "1")
        report = self.server.report("package", "allocated")
        job = self.server.wait("package")
        expect(job["state"] == "SUCCEEDED", job.get("errorMessage", job["state"]))
        return self.check_own_gpu("package", report)

    def package_without_gpu(self) -> str:
        self.package_job("without", "--without", gpus=False)
        report = self.server.report("without", "without")
        self.server.wait("without")
        expect(report["visible"] == "", f"CUDA_VISIBLE_DEVICES is {report['visible']!r}")
        expect(report["count"] == 0 and report["code"] in (NO_DEVICE, -1), f"libcuda finds a GPU: {report}")
        expect(not report["files"], f"it can open {report['files']}")
        return f"cuInit says {report['code']}, no device file can be opened"

    def container_uses_its_gpu(self) -> str:
        self.container_job("container", "--gib", "1")
        report = self.server.report("container", "allocated")
        job = self.server.wait("container")
        expect(job["state"] == "SUCCEEDED", job.get("errorMessage", job["state"]))
        return self.check_own_gpu("container", report)

    def figures(self) -> str:
        self.job("busy", "--gib", "2", "--then", "work")
        size = self.server.report("busy", "allocated")["size"]

        def used() -> Any:
            gpus = self.server.status("busy")["replicas"][0].get("usage", {}).get("gpus", [])
            wanted = [gpu for gpu in gpus if gpu.get("utilization", 0) > 0 and int(gpu["memoryBytes"]) >= size]
            return wanted[0] if wanted else None
        gpu = self.server.until(used, "figures of its GPU with use and memory", "busy")
        path = "/trainyard/v1/projects/p/jobs/busy/metrics?metric=ml.googleapis.com/training/accelerator/"
        for metric in ("utilization", "memory/utilization"):
            series = self.server.ask("GET", path + metric).get("timeSeries", [])
            expect(bool(series and series[0]["points"]), f"there are no points of accelerator/{metric}")
        self.server.cancel("busy")
        self.server.wait("busy")
        return f"use {float(gpu['utilization']):.0%}, {gib(int(gpu['memoryBytes']))} of {gib(int(gpu['memoryTotalBytes']))}"

    def queue(self) -> str:
        if self.mig_uuids:
            raise Skipped("MIG devices would be given to the job that should wait")
        holders = [f"holder{gpu.index}" for gpu in self.gpus]
        for job_id in holders:
            self.job(job_id, "--gib", "1", "--then", "hold")
        uuids = {self.server.report(job_id, "allocated")["uuid"] for job_id in holders}
        expect(len(uuids) == len(holders), f"two jobs have one GPU: {uuids}")
        self.job("waiter", "--gib", "1")
        waiting = self.server.until(lambda: self.server.status("waiter").get("waiting"), "the reason of the wait", "waiter")
        expect(self.server.job("waiter")["state"] == "QUEUED", "the job that finds no GPU is not QUEUED")
        expect("are in use by" in waiting["reason"] and holders[0] in waiting["reason"], f"the reason is: {waiting}")
        for job_id in holders[1:]:
            self.server.cancel(job_id)
            self.server.wait(job_id)
        if len(holders) == 1:
            self.server.cancel(holders[0])
        job = self.server.wait("waiter")
        expect(job["state"] == "SUCCEEDED", job.get("errorMessage", job["state"]))
        if len(holders) > 1:
            self.server.cancel(holders[0])
        ended = self.server.wait(holders[0])["endTime"]
        expect(len(holders) > 1 or job["startTime"] >= ended, f"it started {job['startTime']}, before the other had ended ({ended})")
        return f"\"{waiting['reason']}\" {waiting['unblock']}"

    def freed_after_kill(self) -> str:
        token = f"token-{self.work.name}"
        gpu = self.gpus[0]
        if len(self.gpus) > 1:
            raise Skipped("on a machine with one GPU only: here another GPU may be given")
        before = self.nvml.used_bytes(gpu.index)
        self.job("killed", "--gib", "2", "--then", "hold", "--once", MARKER, "--token", token)
        size = self.server.report("killed", "allocated")["size"]
        during = self.nvml.used_bytes(gpu.index)
        expect(during - before >= size, f"NVML counts {gib(during - before)} more; the job allocated {gib(size)}")
        self.job("next", "--gib", "2")
        programs = [pid for pid in processes_with(token) if processes_with_program(pid)]
        expect(bool(programs), "the job's program is not among the processes of this machine")
        for pid in programs:
            kill(pid)
        self.server.report("killed", "restarted")
        free = self.server.report("next", "allocated")["free_before"]
        expect(free >= gpu.memory_bytes - before - CONTEXT_BYTES, f"the next job found only {gib(free)} free")
        self.server.wait("next")
        after = self.server.until(lambda: self._used_if_at_most(gpu, before + GIB // 8), "the memory in NVML", "killed")
        return f"NVML: {gib(before)} before, {gib(during)} with the job, {gib(after)} after kill -9; the next job found {gib(free)} free"

    def _used_if_at_most(self, gpu: Gpu, most: int) -> int | None:
        used = self.nvml.used_bytes(gpu.index)
        return used if used <= most else None


def processes_with_program(pid: int) -> bool:
    """Whether it is the job's Python, and not the supervisor that has the same words in its command."""
    try:
        return "python" in pathlib.Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return False


CHECKS: list[tuple[str, Callable[[Checks], str]]] = [
    ("the server finds what NVML finds", Checks.inventory),
    ("the device files that CUDA needs are there", Checks.device_files),
    ("admin doctor lists the GPUs", Checks.doctor),
    ("every GPU is in service", Checks.health),
    ("MIG devices are accelerators of their own", Checks.mig),
    ("a package job has its GPU and no other", Checks.package_uses_its_gpu),
    ("a job without accelerators has no GPU", Checks.package_without_gpu),
    ("a container job has its GPU and no other", Checks.container_uses_its_gpu),
    ("GPU use and memory are in the job's figures", Checks.figures),
    ("a job for which no GPU is free waits and says why", Checks.queue),
    ("kill -9 gives the memory back before the next job starts", Checks.freed_after_kill),
    ("a replica's accelerators are of one model", Checks.one_model),
    ("a GPU that fails is out of service until it answers", Checks.fails_and_returns),
]


def run(checks: Checks) -> int:
    failed = 0
    for name, check in CHECKS:
        begin = time.monotonic()
        try:
            word, said = "PASSED", check(checks)
            checks.server.end_jobs()
        except Skipped as reason:
            word, said = "SKIPPED", str(reason)
        except (Failed, Late, NoNvml, OSError, KeyError) as error:
            word, said = "FAILED", str(error) or repr(error)
            failed += 1
            with contextlib.suppress(Late, OSError):
                checks.server.end_jobs()  # the next check needs the GPU
        print(f"{word:<8} {name} ({time.monotonic() - begin:.1f} s): {said}", flush=True)
    return failed


def main() -> int:
    if sys.argv[2:] not in ([], ["--stand-in"]):
        print(f"gpu_check: unknown arguments: {' '.join(sys.argv[2:])}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("gpu_check: stopped before its end"))  # and what it started is ended
    # Not in /tmp: each replica has one of its own.
    with tempfile.TemporaryDirectory(prefix="gpu-check-", dir="/var/tmp") as folder, contextlib.ExitStack() as cleanup:
        work = pathlib.Path(folder)
        work.chmod(0o755)
        try:
            checks = Checks(sys.argv[1], work, StandIn(work) if sys.argv[2:] else None, cleanup)
        except (Failed, Late) as error:
            print(f"FAILED   the checks could not begin: {error}")
            return 1
        failed = run(checks)
    print(f"{'FAILED' if failed else 'PASSED'}: {failed} of {len(CHECKS)} checks failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
