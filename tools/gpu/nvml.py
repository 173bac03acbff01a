"""NVIDIA's management library by ctypes: what the GPUs of this machine are, and how much memory is in use."""

from __future__ import annotations

import ctypes
import dataclasses
import os

PLACES = ("libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1")


class NoNvml(Exception):
    """There is no library, or it does not answer."""


@dataclasses.dataclass(frozen=True)
class Gpu:
    index: int
    name: str
    uuid: str
    memory_bytes: int


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class Nvml:
    def __init__(self, library: str | None = None) -> None:
        self._library = _load([library] if library else PLACES)
        self._call("nvmlInit_v2")

    def gpus(self) -> list[Gpu]:
        """Those that are used as a whole, without MIG."""
        count = ctypes.c_uint()
        self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        return [self._gpu(index) for index in range(count.value) if not self._has_mig(self._device(index))]

    def mig_uuids(self) -> list[str]:
        """The MIG devices; empty where the library is from before MIG."""
        count = ctypes.c_uint()
        self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        return [uuid for index in range(count.value) for uuid in self._parts(self._device(index))]

    def _has_mig(self, device: ctypes.c_void_p) -> bool:
        now, after_reset = ctypes.c_uint(), ctypes.c_uint()
        try:
            self._call("nvmlDeviceGetMigMode", device, ctypes.byref(now), ctypes.byref(after_reset))
        except (NoNvml, AttributeError):
            return False
        return now.value == 1

    def _parts(self, device: ctypes.c_void_p) -> list[str]:
        if not self._has_mig(device):
            return []
        places = ctypes.c_uint()
        self._call("nvmlDeviceGetMaxMigDeviceCount", device, ctypes.byref(places))
        found = []
        for place in range(places.value):
            part = ctypes.c_void_p()
            if self._library.nvmlDeviceGetMigDeviceHandleByIndex(device, ctypes.c_uint(place), ctypes.byref(part)) == 0:
                found.append(self._uuid(part))
        return found

    def _uuid(self, device: ctypes.c_void_p) -> str:
        text = ctypes.create_string_buffer(128)
        self._call("nvmlDeviceGetUUID", device, text, ctypes.c_uint(len(text)))
        return text.value.decode()

    def used_bytes(self, index: int) -> int:
        return int(self._memory(self._device(index)).used)

    def _gpu(self, index: int) -> Gpu:
        device = self._device(index)
        text = ctypes.create_string_buffer(128)
        self._call("nvmlDeviceGetName", device, text, ctypes.c_uint(len(text)))
        name = text.value.decode()
        return Gpu(index, name, self._uuid(device), int(self._memory(device).total))

    def _device(self, index: int) -> ctypes.c_void_p:
        device = ctypes.c_void_p()
        self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(device))
        return device

    def _memory(self, device: ctypes.c_void_p) -> _Memory:
        memory = _Memory()
        self._call("nvmlDeviceGetMemoryInfo", device, ctypes.byref(memory))
        return memory

    def _call(self, name: str, *arguments: object) -> None:
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            raise NoNvml(f"{name}: error {code}")


def _load(places: object) -> ctypes.CDLL:
    said = "no name"
    for place in places:  # type: ignore[attr-defined]
        if place.startswith("/") and not os.path.exists(place):
            continue
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            said = str(error)
    raise NoNvml(said)
