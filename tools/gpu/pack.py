"""A program as a wheel, and as an OCI image of this machine's own Python: made without a network or a builder."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
LEFT_OUT = {"__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo", "site-packages", "dist-packages", "ensurepip", "lib2to3"}


def write_wheel(module: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """A wheel with one module: pip needs nothing to build it."""
    info = f"{module.stem}-1.0.dist-info"
    files = {
        module.name: module.read_bytes(),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {module.stem}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: trainyard\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
              for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]).encode() + b"\n"
    path = folder / f"{module.stem}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def write_image(module: pathlib.Path, folder: pathlib.Path, more: dict[str, pathlib.Path]) -> str:
    """An OCI layout whose program is the module. `more`: further files, by their place in the image. Returns its imageUri."""
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)
    layer = _layer(module, more)
    python = _interpreter()
    config = json.dumps({
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()), "os": "linux",
        "config": {"Env": ["PATH=/usr/local/bin:/usr/bin:/bin", f"PYTHONHOME={sys.base_prefix}"],
                   "Entrypoint": [str(python), f"/app/{module.name}"], "WorkingDir": "/app"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]}}).encode()
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": _keep(blobs, config, "application/vnd.oci.image.config.v1+json"),
        "layers": [_keep(blobs, layer, "application/vnd.oci.image.layer.v1.tar")]}).encode()
    kept = _keep(blobs, manifest, "application/vnd.oci.image.manifest.v1+json")
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [
        {**kept, "annotations": {"org.opencontainers.image.ref.name": "latest"}}]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return f"oci:{folder}:latest"


def _keep(blobs: pathlib.Path, data: bytes, media_type: str) -> dict[str, object]:
    digest = hashlib.sha256(data).hexdigest()
    (blobs / digest).write_bytes(data)
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}


def _interpreter() -> pathlib.Path:
    """The program itself, not the link of a virtual environment."""
    return pathlib.Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))


def _layer(module: pathlib.Path, more: dict[str, pathlib.Path]) -> bytes:
    standard = pathlib.Path(sysconfig.get_path("stdlib"))
    python = _interpreter()
    programs = [python, *sorted((standard / "lib-dynload").glob("*.so"))]
    files = {f"/app/{module.name}": module, **more}
    for path in [python, *_libraries(programs)]:
        files[str(path)] = path
    for path in sorted(standard.rglob("*")):
        if not LEFT_OUT & set(path.relative_to(standard).parts) and path.is_file() and path.suffix not in (".a", ".pyc"):
            files[str(path)] = path
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in _folders([*files, "/etc/passwd", "/proc/x", "/sys/x", "/dev/x", "/tmp/x", "/usr/local/nvidia/lib64/x"]):
            entry = tarfile.TarInfo(name.lstrip("/"))
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name == "/tmp" else 0o755
            archive.addfile(entry)
        for name, path in sorted(files.items()):
            _add(archive, name, path.read_bytes(), 0o755)
        _add(archive, "/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n", 0o644)
    return buffer.getvalue()


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int) -> None:
    entry = tarfile.TarInfo(name.lstrip("/"))
    entry.size, entry.mode = len(data), mode
    archive.addfile(entry, io.BytesIO(data))


def _folders(names: list[str]) -> list[str]:
    found = {str(parent) for name in names for parent in pathlib.PurePosixPath(name).parents}
    return sorted(found - {"/"})


def _libraries(programs: list[pathlib.Path]) -> list[pathlib.Path]:
    """What the loader opens for them, and the loader, at the places that they name."""
    said = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=False).stdout
    return sorted({pathlib.Path(name) for name in re.findall(r"(/\S+) \(0x", said)})
