"""Makes the wheel in which `trainyard run` sends a program: src/cli/run/wheel.cc."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import pkgutil
import stat
import zipfile
from typing import List, Mapping, Sequence

from trainyard._beside import File

MODULE = "trainyard_program"
FILE_NAME = "trainyard_program-0-py3-none-any.whl"
_INFO = "trainyard_program-0.dist-info/"
_FIRST_TIME = (1980, 1, 1, 0, 0, 0)  # that a zip archive can have: equal programs are equal bytes

def make_wheel(files: Mapping[str, File], command: Sequence[str], requirements: Sequence[str]) -> bytes:
    """A wheel whose module MODULE puts the files into the working directory and becomes `python COMMAND`."""
    metadata = "Metadata-Version: 2.1\nName: trainyard-program\nVersion: 0\n"
    metadata += "".join("Requires-Dist: %s\n" % requirement for requirement in requirements)
    members = {MODULE + "/__init__.py": File(b""), MODULE + "/__main__.py": File(pkgutil.get_data("trainyard", "_program_main.py") or b""),
               MODULE + "/command.json": File((json.dumps(list(command)) + "\n").encode()),
               **{MODULE + "/files/" + path: file for path, file in files.items()}}
    members = {path: members[path] for path in sorted(members)}
    members[_INFO + "METADATA"] = File(metadata.encode())
    members[_INFO + "WHEEL"] = File(b"Wheel-Version: 1.0\nGenerator: trainyard\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    return pack(members, _INFO)


def pack(members: Mapping[str, File], info: str) -> bytes:
    """The archive of these files, with the RECORD of them in the folder `info`."""
    record = "".join(_record(path, file.content) for path, file in members.items()) + info + "RECORD,,\n"
    members = {**members, info + "RECORD": File(record.encode())}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, file in members.items():
            entry = zipfile.ZipInfo(path, _FIRST_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o755 if file.is_executable else 0o644)) << 16
            archive.writestr(entry, file.content)
    return buffer.getvalue()


def _record(path: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    fields: List[str] = [path, "sha256=" + digest, str(len(content))]
    return ",".join('"%s"' % field.replace('"', '""') if set(field) & set(',"\r\n') else field for field in fields) + "\n"
