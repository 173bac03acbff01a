"""Installs a job's packages into the Python of an image. Run in a container of that image: install_packages.py FOLDER.

FOLDER has the packages, each in a folder 0, 1, ... of its own, and settings.json: "files" (the texts of the machine's pip.conf files,
the last one wins) and "variables" (which win over them). Exit status 3: the image has no pip.
"""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def apply_settings(settings):
    """pip's options as the variables that it reads: the configuration is not in the image."""
    import configparser

    for text in settings["files"]:
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(text)
        except configparser.Error:
            continue  # pip says so where it is used
        for section in ("global", "install"):
            for option, value in parser.items(section) if parser.has_section(section) else ():
                os.environ["PIP_" + option.upper().replace("-", "_")] = value.strip()
    os.environ.update(settings["variables"])
    for name in ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV"):
        os.environ.pop(name, None)


def builds_with_own_setuptools(path):
    probe = [sys.executable, os.path.join(HERE, "layer_probe.py"), "isolation", path]
    return subprocess.check_output(probe).decode().strip() == "shared"


def install(path):
    options = ["--no-cache-dir"]
    if not path.endswith(".whl") and builds_with_own_setuptools(path):
        options.append("--no-build-isolation")
    # As the original did: the package itself by force, then what it requires and the image does not have.
    for more in (["--upgrade", "--force-reinstall", "--no-deps"], []):
        print("Running command: pip3 install " + " ".join(more + options + [os.path.basename(path)]))
        sys.stdout.flush()
        status = subprocess.call([sys.executable, "-m", "pip", "install"] + more + options + [path])
        if status:
            sys.exit(1)


def main(folder):
    from importlib.util import find_spec

    if find_spec("pip") is None:
        sys.exit(3)
    with open(os.path.join(folder, "settings.json")) as file:
        apply_settings(json.load(file))
    index = 0
    while os.path.isdir(os.path.join(folder, str(index))):
        here = os.path.join(folder, str(index))
        for name in os.listdir(here):
            install(os.path.join(here, name))
        index += 1


if __name__ == "__main__":
    main(sys.argv[1])
