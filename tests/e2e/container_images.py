"""Container images made offline, and real registries that serve them. Fixtures; conftest.py imports them.

    def test_x(server, images, registry):
        uri = registry.push(images["busybox"])                    # "127.0.0.1:PORT/trainyard/busybox:v1"
        uri = registry.push(images.derive("busybox", "mine", files={"/x.sh": "echo hi"}, entrypoint=["/bin/sh", "/x.sh"]))
        server.submit("job", masterConfig={"imageUri": uri})

An image is a name in one OCI layout (`images.folder`); skopeo knows it as `images[name].layout`.
"""

import base64
import contextlib
import gzip
import hashlib
import io
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import socketserver
import subprocess
import tarfile
import threading
import time
from typing import Any

import pytest

from trainyard_server import DEADLINE_S, ROOT

OCI_IMAGE = ROOT / "tools/oci-image.sh"
USER, PASSWORD = "trainer", "secret"
HTPASSWD = f"{USER}:$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n"  # bcrypt of PASSWORD
LARGE_BYTES = 960 << 20  # beyond 1 GiB a layer of nothing is refused
LARGE_DIFF_ID = "sha256:ec4139af1671d58b57d7e837d550261856ac586fdee997b466eb2adb1b0be738"  # takes seconds to compute
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"

# Says what a container was given: one line each for the arguments, the folder, the user and the variables asked for.
SHOW = """#!/bin/sh
echo "args:$(printf ' [%s]' "$0" "$@")"
echo "pwd: $(pwd)"
echo "id: $(id -u):$(id -g)"
env | sort | sed 's/^/env: /'
"""

# A trainer: prints what it was given and writes a model into --job-dir with plain files (below /gcs or a folder).
TRAINER = """
import json, os, pathlib, sys
print("TRAINER " + json.dumps({"argv": sys.argv[1:], "cluster": json.loads(os.environ.get("CLUSTER_SPEC") or "null"),
                               "pwd": os.getcwd(), "uid": os.getuid()}), flush=True)
arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
folder = arguments.get("--job-dir", "")
if folder.startswith("gs://"):
    folder = "/gcs/" + folder[5:]
if folder:
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    (pathlib.Path(folder) / "model.txt").write_text("trained\\n")
sys.exit(int(os.environ.get("EXIT_CODE", "0")))
"""

# PID 1 that handles no signal: the kernel ignores SIGTERM for it.
STUBBORN = "echo started; while :; do sleep 1000 & wait; done\n"


class Image:
    """One image of the layout: its name there, and its digest."""

    def __init__(self, folder, name, digest):
        self.name, self.digest = name, digest
        self.layout = f"oci:{folder}:{name}"

    def __repr__(self):
        return f"{self.name}@{self.digest}"


class Images:
    """Makes images on demand, each once per session. `images[NAME]` of RECIPES; `derive` adds layers to one."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "blobs/sha256").mkdir(parents=True)
        (self.folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')
        self.made = {}

    def __getitem__(self, name):
        if name not in self.made:
            RECIPES[name](self, name)
        return self.made[name]

    def archive(self, name):
        """A tar of the image, as `docker save` and buildah write it: for oci-archive: and docker-archive:."""
        path = self.folder.parent / f"{name}.tar"
        if not path.exists():
            run("skopeo", "copy", "--insecure-policy", "-q", self[name].layout, f"oci-archive:{path}:localhost/{name}:v1")
        return path

    def derive(self, base, name, files=None, layers=(), compress="gzip", **config):
        """Another image on `base` (the name of one): a layer with `files` (path -> text or bytes; executable if it begins
        with #!), then the `layers` given as bytes of a tar, and keys of the image's config in small letters with
        underscores: entrypoint, cmd, env (list), user, working_dir, labels, stop_signal; None removes one. `architecture` too."""
        parent = json.loads(self.blob(self[base].digest))
        image = json.loads(self.blob(parent["config"]["digest"]))
        image["architecture"] = config.pop("architecture", image["architecture"])
        for key, value in config.items():
            image["config"]["".join(word.capitalize() for word in key.split("_"))] = value
        image["config"] = {key: value for key, value in image["config"].items() if value is not None}
        tars = ([tar_of(files)] if files else []) + list(layers)
        for tar in tars:
            image["rootfs"]["diff_ids"].append(digest_of(tar))
            image.get("history", []).append({"created_by": name})  # one for each layer, or podman cannot commit
            parent["layers"].append(self.add_layer(tar, compress))
        return self.finish(name, image, parent["layers"])

    def add_layer(self, tar, compress="gzip"):
        """Stores a layer and returns its descriptor. compress: gzip, zstd or None."""
        if compress == "gzip":
            return self.add(gzip.compress(tar, 1, mtime=0), LAYER + "+gzip")
        if compress == "zstd":
            return self.add(run("zstd", "-q", "-c", input=tar), LAYER + "+zstd")
        return self.add(tar, LAYER)

    def finish(self, name, image, layers):
        """Stores config and manifest, and names the image."""
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": self.add_json(image, CONFIG), "layers": layers}
        return self.name(name, self.add_json(manifest, MANIFEST))

    def index(self, name, members):
        """An image for several architectures: {"amd64": NAME, ...}."""
        manifests = [{**self.descriptor(member, MANIFEST), "platform": {"architecture": architecture, "os": "linux"}}
                     for architecture, member in members.items()]
        return self.name(name, self.add_json({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests}, INDEX))

    def descriptor(self, name, kind):
        digest = self[name].digest
        return {"mediaType": kind, "digest": digest, "size": len(self.blob(digest))}

    def name(self, name, descriptor):
        path = self.folder / "index.json"
        index = json.loads(path.read_text()) if path.exists() else {"schemaVersion": 2, "manifests": []}
        index["manifests"] = [entry for entry in index["manifests"]
                              if entry["annotations"]["org.opencontainers.image.ref.name"] != name]
        index["manifests"].append({**descriptor, "annotations": {"org.opencontainers.image.ref.name": name}})
        path.write_text(json.dumps(index))
        self.made[name] = Image(self.folder, name, descriptor["digest"])
        return self.made[name]

    def add_json(self, value, kind):
        return self.add(json.dumps(value).encode(), kind)

    def add(self, data, kind):
        digest = digest_of(data)
        self.path_of(digest).write_bytes(data)
        return {"mediaType": kind, "digest": digest, "size": len(data)}

    def blob(self, digest):
        return self.path_of(digest).read_bytes()

    def path_of(self, digest):
        return self.folder / "blobs" / digest.replace(":", "/")


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def run(*command, input=None):
    done = subprocess.run([str(word) for word in command], input=input, capture_output=True, timeout=DEADLINE_S)
    assert done.returncode == 0, (command, done.stderr.decode(errors="replace"))
    return done.stdout


def tar_of(files, uid=0, gid=0):
    """A layer's tar: path -> text, bytes or a tarfile.TarInfo (a link, a folder, a whiteout ...)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                content.name = path.lstrip("/")
                tar.addfile(content)
                continue
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(path.lstrip("/"))
            info.size, info.uid, info.gid = len(data), uid, gid
            info.mode = 0o755 if data.startswith(b"#!") else 0o644
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def base(*options):
    """A recipe: what tools/oci-image.sh makes of this machine's busybox and Python."""
    def make(images, name):
        archive = images.folder.parent / f"base-{name}.tar"
        run(OCI_IMAGE, "build", archive, "--name", name, *options)
        with tarfile.open(archive) as tar:
            for member in tar.getmembers():
                if member.name.startswith("blobs/sha256/") and member.isfile():
                    (images.folder / member.name).write_bytes(tar.extractfile(member).read())
            entry = json.loads(tar.extractfile("index.json").read())["manifests"][0]
        archive.unlink()
        entry.pop("annotations")
        images.name(name, entry)
    return make


def derived(parent, **what):
    return lambda images, name: images.derive(parent, name, **what)


def many_layers(images, name):
    """40 layers: each adds a file and removes the one before; /count is the last one's number, /gone/* must not be seen."""
    layers = [tar_of({"/count": "0\n", "/gone/0": "x", "/kept/0": "0"})]
    for number in range(1, 39):
        layers.append(tar_of({"/count": f"{number}\n", f"/gone/{number}": "x", f"/gone/.wh.{number - 1}": "",
                              f"/kept/{number}": str(number)}))
    images.derive("busybox", name, layers=layers, cmd=["/bin/sh", "-c", "cat /count; ls /kept | wc -l; ls /gone"])


def large(images, name):
    """A gigabyte of zeros in one layer of some megabytes: members of gzip, one behind the other."""
    block = bytes(64 << 20)
    info = tarfile.TarInfo("large")
    info.size = LARGE_BYTES
    head, tail = info.tobuf(tarfile.PAX_FORMAT), bytes(1024)
    packed = gzip.compress(block, 1, mtime=0)
    layer = gzip.compress(head, mtime=0) + packed * (LARGE_BYTES // len(block)) + gzip.compress(tail, mtime=0)
    parent = json.loads(images.blob(images["busybox"].digest))
    image = json.loads(images.blob(parent["config"]["digest"]))
    image["rootfs"]["diff_ids"].append(LARGE_DIFF_ID)
    image["config"]["Cmd"] = ["/bin/sh", "-c", "wc -c </large"]
    images.finish(name, image, [*parent["layers"], images.add(layer, LAYER + "+gzip")])


SHOWN = {"/bin/show": SHOW}
OTHER_ARCHITECTURE = "arm64" if os.uname().machine == "x86_64" else "amd64"
THIS_ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)

RECIPES = {
    # Nothing but busybox; CMD is a shell.
    "busybox": base(),
    # This machine's Python and its standard library, 39 MB; CMD is a shell.
    "python": base("--python"),
    # ENTRYPOINT python3 -m trainer.task in /app; see TRAINER.
    "trainer": derived("python", files={"/app/trainer/__init__.py": "", "/app/trainer/task.py": TRAINER}, working_dir="/app",
                       entrypoint=["python3", "-m", "trainer.task"], cmd=None, labels={"purpose": "test"}),
    # /bin/show prints its arguments, folder, ids and environment: ENTRYPOINT and CMD in their four cases.
    "entrypoint-and-cmd": derived("busybox", files=SHOWN, entrypoint=["/bin/show", "entry"], cmd=["cmd", "two words"]),
    "entrypoint-only": derived("busybox", files=SHOWN, entrypoint=["/bin/show", "entry"], cmd=None),
    "cmd-only": derived("busybox", files=SHOWN, cmd=["/bin/show", "cmd"]),
    "neither": derived("busybox", files=SHOWN, cmd=None),
    # USER, WORKDIR, ENV, STOPSIGNAL and LABEL.
    "user": derived("busybox", files={**SHOWN, "/etc/passwd": "root:x:0:0::/root:/bin/sh\napp:x:1234:1235::/home/app:/bin/sh\n",
                                      "/etc/group": "root:x:0:\napp:x:1235:\n"},
                    user="app", working_dir="/home/app/new", env=["PATH=/bin", "FROM_IMAGE=yes"], stop_signal="SIGINT",
                    labels={"a": "b"}, cmd=["/bin/show"]),
    # PID 1 without signal handlers; says "started".
    "stubborn": derived("busybox", cmd=["/bin/sh", "-c", STUBBORN]),
    "layers40": many_layers,
    "large": large,
    # A layer of 12 MB that cannot be compressed, and a small one on top: to be cut in the middle.
    "heavy": lambda images, name: images.derive("busybox", name, layers=[tar_of({"/heavy": random.Random(1).randbytes(12 << 20)}),
                                                                         tar_of({"/small": "small"})]),
    # Cannot be run: no such file; a file without the x bit; made for another kind of machine.
    "no-program": derived("busybox", entrypoint=["/nothing/here"], cmd=None),
    "not-executable": derived("busybox", files={"/plain": "text"}, entrypoint=["/plain"], cmd=None),
    "other-architecture": derived("busybox", architecture=OTHER_ARCHITECTURE),
    # An index: this machine's busybox and the other one.
    "two-architectures": lambda images, name: images.index(
        name, {OTHER_ARCHITECTURE: "other-architecture", THIS_ARCHITECTURE: "busybox"}),
    # Layers compressed with zstd, and not at all.
    "zstd": derived("busybox", files=SHOWN, compress="zstd", cmd=["/bin/show", "zstd"]),
    "uncompressed": derived("busybox", files=SHOWN, compress=None, cmd=["/bin/show", "uncompressed"]),
}


class Registry:
    """docker-registry on a free loopback port. `address` is HOST:PORT; kill, start again, stop."""

    def __init__(self, folder, with_password=False):
        self.folder, self.with_password = pathlib.Path(folder), with_password
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.pushed = {}
        self.start()

    def start(self):
        settings = {"version": 0.1, "log": {"level": "warn", "accesslog": {"disabled": True}},
                    "storage": {"filesystem": {"rootdirectory": str(self.folder / "data")}, "delete": {"enabled": True}},
                    "http": {"addr": self.address}}
        if self.with_password:
            (self.folder / "htpasswd").write_text(HTPASSWD)
            settings["auth"] = {"htpasswd": {"realm": "test", "path": str(self.folder / "htpasswd")}}
        (self.folder / "config.yml").write_text(json.dumps(settings))  # JSON is YAML
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(["docker-registry", "serve", self.folder / "config.yml"], stdout=log, stderr=log)
        deadline = time.monotonic() + DEADLINE_S
        while not answers(self.port):
            assert self.process.poll() is None and time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.02)  # between two questions to a port that nobody listens on yet

    def push(self, image, repository=None, tag="v1"):
        """Pushes once; returns the reference with the tag."""
        reference = f"{self.address}/{repository or 'trainyard/' + image.name}:{tag}"
        if self.pushed.get(reference) != image.digest:
            credentials = ["--dest-creds", f"{USER}:{PASSWORD}"] if self.with_password else []
            run("skopeo", "copy", "--insecure-policy", "-q", "--all", "--preserve-digests", "--dest-tls-verify=false", *credentials,
                image.layout, f"docker://{reference}")
            self.pushed[reference] = image.digest
        return reference

    def blob_path(self, digest):
        """The file of a blob, to damage it."""
        name = digest.removeprefix("sha256:")
        return self.folder / f"data/docker/registry/v2/blobs/sha256/{name[:2]}/{name}/data"

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class CuttingProxy(socketserver.ThreadingTCPServer):
    """Before a registry: passes everything on, and cuts a connection once so many bytes of one answer went through it.
    `heal()` makes it harmless, `freeze()` keeps connections open but silent instead of cutting; `cuts` counts."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, registry, after_bytes):
        self.registry, self.after_bytes, self.cuts, self.silent = registry, after_bytes, 0, False
        self.ended = threading.Event()
        self.happened = threading.Event()  # a connection was cut, or fell silent
        super().__init__(("127.0.0.1", 0), Passing)
        self.address = f"127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def reference(self, pushed):
        """The same image through this proxy."""
        return pushed.replace(self.registry.address, self.address, 1)

    def heal(self):
        self.after_bytes = None
        self.ended.set()

    def freeze(self):
        self.silent = True

    def stop(self):
        self.ended.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """A connection that broke is what this is for."""


class Passing(socketserver.BaseRequestHandler):
    def handle(self):
        proxy: Any = self.server
        with socket.create_connection(("127.0.0.1", proxy.registry.port)) as behind:
            threading.Thread(target=self.pump, args=(self.request, behind), daemon=True).start()
            count = 0
            while data := behind.recv(65536):
                count += len(data)
                if proxy.after_bytes is not None and count > proxy.after_bytes:
                    proxy.cuts += 1
                    proxy.happened.set()
                    if proxy.silent:
                        proxy.ended.wait()
                    return
                self.request.sendall(data)

    @staticmethod
    def pump(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def docker_config(folder, address, user=USER, password=PASSWORD):
    """Writes a folder for DOCKER_CONFIG that knows the password of one registry; returns the folder."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    token = base64.b64encode(f"{user}:{password}".encode()).decode()
    (folder / "config.json").write_text(json.dumps({"auths": {address: {"auth": token}}}))
    return folder


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"no {program} on PATH (./dev setup installs it)")


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """The images of RECIPES by name, made when first asked for, and `derive` for others (class Images)."""
    needs("busybox", "skopeo")
    return Images(tmp_path_factory.mktemp("images") / "layout")


@pytest.fixture(scope="session")
def registry(tmp_path_factory):
    """A registry that lives as long as the session; no credentials (class Registry). Do not kill it: make_registry is for that."""
    needs("docker-registry", "skopeo")
    registry = Registry(tmp_path_factory.mktemp("registry"))
    yield registry
    registry.stop()


@pytest.fixture
def make_registry(tmp_path):
    """make_registry() or make_registry(with_password=True): registries of one test, to be killed, damaged, started again.
    USER and PASSWORD are its credentials; docker_config() writes them down as Docker does."""
    needs("docker-registry", "skopeo")
    registries = []

    def make(**options):
        registries.append(Registry(tmp_path / f"registry{len(registries)}", **options))
        return registries[-1]

    yield make
    for registry in registries:
        registry.stop()


@pytest.fixture
def cutting_proxy():
    """cutting_proxy(registry, after_bytes): a registry that dies in the middle of a blob (class CuttingProxy)."""
    proxies = []

    def make(registry, after_bytes):
        proxies.append(CuttingProxy(registry, after_bytes))
        return proxies[-1]

    yield make
    for proxy in proxies:
        proxy.stop()
