"""The OCI image of the server: what is in it, and that it serves as process 1 of a container, which reaps what jobs leave behind."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest

from installed_service import make_deb
from process_output import DEADLINE_S, Output
from trainyard_server import ROOT

pytestmark = pytest.mark.long  # a Debian is fetched: minutes

MOUNTS = "mount -t proc proc proc && mount --rbind /sys sys && mount --rbind /dev dev"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("a root of another Debian needs root")
    for tool in "mmdebstrap", "umoci", "cpack":
        if not shutil.which(tool):
            pytest.skip(f"no {tool} on PATH")
    folder = tmp_path_factory.mktemp("image")
    made = subprocess.run([ROOT / "packaging/make_image.sh", make_deb(folder)], check=True, capture_output=True, text=True).stdout.split()[-1]
    layout = folder / "layout"
    layout.mkdir()
    subprocess.run(["tar", "-C", layout, "-xf", made], check=True)
    [image] = json.loads((layout / "index.json").read_text())["manifests"]
    name = image["annotations"]["org.opencontainers.image.ref.name"]
    assert name.startswith("trainyard:")
    (layout / "index.json").write_text((layout / "index.json").read_text().replace(name, "image"))  # umoci takes a tag alone
    subprocess.run(["umoci", "unpack", "--image", f"{layout}:image", folder / "bundle"], check=True, capture_output=True)
    yield folder / "bundle"
    shutil.rmtree(folder / "bundle")


def children_of(pid):
    tasks = pathlib.Path(f"/proc/{pid}/task")
    return [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]


def test_it_serves_and_reaps(bundle):
    process = json.loads((bundle / "config.json").read_text())["process"]
    assert process["args"] == ["/usr/bin/tini", "--", "/usr/bin/trainyard", "serve"]
    variables = dict(pair.split("=", 1) for pair in process["env"])
    assert variables["TRAINYARD_DATA"] == "/var/lib/trainyard"
    root = bundle / "rootfs"
    script = f'cd {root} && {MOUNTS} && exec chroot . "$@"'
    container = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child=KILL", "sh", "-c", script, "sh",
                                  *process["args"], "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables)
    try:
        said = Output(container.stdout)
        said.until(b"listening on http://")
        [init] = children_of(container.pid)
        assert pathlib.Path(f"/proc/{init}/comm").read_text() == "tini\n"
        [server] = children_of(init)
        inside = ["nsenter", "--target", str(server), "--mount", "--pid", "--root", "--wd"]
        subprocess.run([*inside, "sh", "-c", "(exec setsid sh -c 'exit 0' &)"], check=True)
        listed = subprocess.run([*inside, "trainyard", "jobs", "list"], check=False, capture_output=True, text=True, env=variables)
        assert listed.returncode == 0, listed  # it finds the server without a flag
        deadline = time.monotonic() + DEADLINE_S
        while children_of(init) != [server]:
            assert time.monotonic() < deadline, "the orphan stays"
            time.sleep(0.05)  # between two looks
        os.kill(server, 15)
        assert container.wait(60) == 0
    finally:
        container.kill()
        container.wait()
        container.stdout.close()


def test_pods_find_the_agent_by_its_digest(bundle):
    with open(bundle / "rootfs/usr/bin/trainyard", "rb") as program:
        digest = hashlib.file_digest(program, "sha256").hexdigest()
    link = bundle / f"rootfs/usr/local/lib/trainyard/trainyard-{digest}"  # where the script of a pod looks first
    assert str(link.readlink()) == "/usr/bin/trainyard"
