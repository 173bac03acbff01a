"""A job's packages in an image: installed by the image's own Python into a layer that is kept, and run there."""

import io
import pathlib
import sysconfig
import tarfile

import pytest

from container_engines import leftovers, submit_image
from container_images import tar_of
from trainyard_server import kill, processes_with, wait_for

# Says where it was found, with which Python, and what it was given.
MODULE = """
import json, sys
import helper
print("MODULE " + json.dumps({"argv": sys.argv[1:], "helper": helper.NAME, "file": __file__}), flush=True)
"""
SETUP = "from setuptools import setup\nsetup(name={name!r}, version='1.0', {more})\n"
HANGS = "print('hanging', flush=True)\nimport time\ntime.sleep(3600)\n"


def sdist(name, files, more="", setup=None):
    """A source distribution, as `python3 setup.py sdist` makes it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        files = {"setup.py": setup or SETUP.format(name=name, more=more), "PKG-INFO": f"Metadata-Version: 1.0\nName: {name}\nVersion: 1.0\n",
                 **files}
        for path, text in files.items():
            info = tarfile.TarInfo(f"{name}-1.0/{path}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def server(container_server):
    return container_server


@pytest.fixture(scope="module")
def python_with_pip(images, registry):
    """This machine's Python with the pip and setuptools that the tests have."""
    if "python-pip" not in images.made:
        source = pathlib.Path(sysconfig.get_paths()["purelib"])
        files = {}
        for name in ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence.pth", "pip-*.dist-info",
                     "setuptools-*.dist-info"):
            for top in source.glob(name):
                for path in [top] if top.is_file() else top.rglob("*"):
                    if path.is_file() and "__pycache__" not in path.parts and "tests" not in path.parts:
                        files[f"/usr/lib/python3/dist-packages/{path.relative_to(source)}"] = path.read_bytes()
        images.derive("python", "python-pip", layers=[tar_of(files)], env=["PATH=/usr/local/bin:/usr/bin:/bin", "HELPER=image"])
    return registry.push(images["python-pip"])


@pytest.fixture(scope="module")
def trainer(server):
    """Two packages of which the first one needs the second one's module."""
    helper = sdist("helper_pkg", {"helper.py": "import os\nNAME = 'helper of ' + os.environ['HELPER']\n"}, "py_modules=['helper']")
    main = sdist("image_trainer", {"image_trainer/__init__.py": "", "image_trainer/task.py": MODULE}, "packages=['image_trainer']")
    return [server.upload("packages", "image_trainer-1.0.tar.gz", main), server.upload("packages", "helper_pkg-1.0.tar.gz", helper)]


def installations(server, job_id):
    return [text for text in server.texts(job_id) if text.startswith("Running command: pip3 install")]


CLUSTER = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "1"}


def test_a_module_in_an_image(server, python_with_pip, trainer):
    job = dict(packageUris=trainer, pythonModule="image_trainer.task", args=["a", "b c"], jobDir="gs://out/mod", **CLUSTER)
    submit_image(server, "first", python_with_pip, **job)
    assert server.wait("first")["state"] == "SUCCEEDED", server.get("first").get("errorMessage")
    seen = [text for text in server.texts("first", "master-replica-0") if text.startswith("MODULE ")]
    assert len(seen) == 1 and '"argv": ["a", "b c", "--job-dir", "gs://out/mod"]' in seen[0], seen
    assert "helper of image" in seen[0] and "/usr/local/lib/python3" in seen[0], seen
    # Two passes for each package, by one of the two replicas; the other one waits.
    assert len(installations(server, "first")) == 4, installations(server, "first")
    assert "Running module image_trainer.task." in server.texts("first", "master-replica-0")
    submit_image(server, "again", python_with_pip, **job)
    assert server.wait("again")["state"] == "SUCCEEDED"
    assert not installations(server, "again")
    assert any(text.startswith("MODULE ") for text in server.texts("again", "master-replica-0"))


def failure(server, job_id, image, *uris):
    submit_image(server, job_id, image, packageUris=list(uris), pythonModule="image_trainer.task")
    job = server.wait(job_id)
    assert job["state"] == "FAILED", server.texts(job_id)
    return job["errorMessage"]


def test_an_image_without_python(server, images, registry, trainer):
    assert "no python3" in failure(server, "no_python", registry.push(images["busybox"]), *trainer)


def test_an_image_without_pip(server, images, registry, trainer):
    assert "no pip" in failure(server, "no_pip", registry.push(images["python"]), *trainer)


def test_a_package_that_cannot_be_built(server, python_with_pip):
    uri = server.upload("packages", "broken-1.0.tar.gz", sdist("broken", {}, setup="raise RuntimeError('not today')\n"))
    assert "pip: " in failure(server, "broken", python_with_pip, uri)
    assert any("not today" in text for text in server.texts("broken"))


def test_a_killed_installation_leaves_nothing(server, python_with_pip):
    uri = server.upload("packages", "slow-1.0.tar.gz", sdist("slow", {}, setup=HANGS))
    submit_image(server, "killed", python_with_pip, packageUris=[uri], pythonModule="slow")
    wait_for(lambda: installations(server, "killed") or None, lambda: str(server.texts("killed")))
    supervisor = next(pid for pid, command in processes_with(f"{server.data}/attempts/") if " replica " in command)
    kill(supervisor)
    wait_for(lambda: len(installations(server, "killed")) > 1 or None, lambda: str(server.texts("killed")))
    server.cancel("killed")
    assert server.wait("killed")["state"] == "CANCELLED"
    wait_for(lambda: True if not leftovers(server) else None, lambda: str(leftovers(server)))
