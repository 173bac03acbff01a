"""`trainyard images` and `registries` against real registries and archives: what jobs' images go through before they run."""

import hashlib
import json
import os
import pathlib
import signal
import stat
import subprocess
import time

import pytest

from container_images import LARGE_BYTES, PASSWORD, USER, docker_config, needs, run, tar_of
from process_output import Output
from trainyard_server import DEADLINE_S, PROGRAM


class Cache:
    """A data folder, and the commands on it."""

    def __init__(self, data):
        self.data = pathlib.Path(data)
        self.images = self.data / "images"
        self.home = self.data / "home"  # nobody's real credentials
        self.home.mkdir(parents=True)

    def environment(self, **variables):
        kept = {key: value for key, value in os.environ.items()
                if key not in ("DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR")}
        return {**kept, "HOME": str(self.home), **variables}

    def __call__(self, *words, input=None, **variables):
        return subprocess.run([PROGRAM, *map(str, words), "--data", str(self.data)], capture_output=True, text=True, input=input,
                              stdin=subprocess.DEVNULL if input is None else None, env=self.environment(**variables),
                              timeout=DEADLINE_S)

    def start(self, *words):
        return subprocess.Popen([PROGRAM, *map(str, words), "--data", str(self.data)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.environment())

    def pull(self, reference, **variables):
        done = self("images", "pull", reference, **variables)
        assert done.returncode == 0, done.stderr
        return done

    def refused(self, *words, **options):
        done = self(*words, **options)
        assert done.returncode == 1, (done.stdout, done.stderr)
        return done.stderr

    def list(self):
        return json.loads(self("images", "list", "--format=json").stdout)

    def inspect(self, name):
        done = self("images", "inspect", name, "--format=json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def leftovers(self):
        return sorted(path.name for path in (self.images / "pulls").iterdir())


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "data")


def merged(layers):
    """What overlayfs would show of layers, the lowest first, by its own rules: path -> content, link target, or None for a folder."""
    seen = {}
    for layer in map(pathlib.Path, layers):
        for folder, folders, files in os.walk(layer):
            place = pathlib.Path(folder).relative_to(layer)
            opaque = False
            try:
                opaque = os.getxattr(folder, "user.overlay.opaque") == b"y"
            except OSError:
                pass
            if opaque:
                seen = {path: what for path, what in seen.items() if place not in path.parents}
            for name in folders + files:
                path, real = place / name, pathlib.Path(folder) / name
                status = real.lstat()
                if not stat.S_ISDIR(status.st_mode):
                    seen = {other: what for other, what in seen.items() if other != path and path not in other.parents}
                if stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
                    continue
                seen[path] = (os.readlink(real) if stat.S_ISLNK(status.st_mode) else
                              None if stat.S_ISDIR(status.st_mode) else real.read_bytes())
    return {str(path): what for path, what in seen.items()}


def test_pulls_what_the_registry_has(cache, images, registry):
    uri = registry.push(images["entrypoint-and-cmd"])
    done = cache.pull(uri)
    digest = images["entrypoint-and-cmd"].digest
    assert done.stdout.strip() == uri.rsplit(":", 1)[0] + "@" + digest
    assert f"Pulling image {done.stdout.strip()} (2 layers, " in done.stderr
    assert "Pulled and unpacked the image: " in done.stderr
    image = cache.inspect(uri)
    assert image["digest"] == digest and image["entrypoint"] == ["/bin/show", "entry"] and image["command"] == ["cmd", "two words"]
    assert image["names"] == [uri] and image["layers"] == 2
    assert [row["digest"] for row in cache.list()] == [digest]
    seen = merged(image["layerFolders"])
    assert seen["bin/show"].startswith(b"#!/bin/sh") and seen["bin/sh"] == "busybox"
    assert cache.leftovers() == []
    assert stat.S_IMODE(cache.images.stat().st_mode) == 0o700  # a setuid program of an image is nobody's to run out here
    again = cache.pull(uri)
    assert again.stdout == done.stdout and "Pulling" not in again.stderr


@pytest.mark.parametrize("name", ["layers40", "zstd", "uncompressed", "two-architectures", "user"])
def test_unpacks_what_others_unpack(cache, images, registry, tmp_path, name):
    """The layers, stacked, are what umoci makes of the image (where it can)."""
    cache.pull(registry.push(images[name]))
    image = cache.list()[0]
    seen = merged(cache.inspect(image["digest"])["layerFolders"])
    if name == "layers40":
        assert seen["count"] == b"38\n" and sorted(path for path in seen if path.startswith("gone/")) == ["gone/38"]
        assert len([path for path in seen if path.startswith("kept/")]) == 39 and image["layers"] == 40
    if name == "two-architectures":
        assert image["digest"] == images["busybox"].digest
    if name not in ("zstd", "two-architectures") and os.geteuid() == 0:
        needs("umoci")
        run("umoci", "unpack", "--image", f"{images.folder}:{name}", tmp_path / "bundle")
        assert seen == merged([tmp_path / "bundle/rootfs"])


def test_large_image_takes_little_space(cache, images, registry):
    cache.pull(registry.push(images["large"]))
    image = cache.inspect(images["large"].digest)
    large = next(path for folder in image["layerFolders"] if (path := pathlib.Path(folder) / "large").exists())
    assert large.stat().st_size == LARGE_BYTES and large.stat().st_blocks * 512 < 1 << 20
    assert image["unpackedBytes"] > LARGE_BYTES > image["sizeBytes"]


def test_says_what_is_wrong(cache, images, registry, make_registry, tmp_path):
    uri = registry.push(images["busybox"])
    assert f"image {uri}0: there is no such image or tag in {registry.address}" in cache.refused("images", "pull", uri + "0")
    assert "there is no such image or tag" in cache.refused("images", "pull", f"{registry.address}/nothing/here:v1")
    other = cache.refused("images", "pull", registry.push(images["other-architecture"]))
    assert "it is made for linux/" in other and "build it for this machine" in other
    wrong = f"{registry.address}/trainyard/busybox@sha256:{'0' * 64}"
    assert "there is no such image or tag" in cache.refused("images", "pull", wrong)
    dead = make_registry()
    uri = dead.push(images["busybox"])
    dead.kill()
    assert f"{dead.address} does not answer: connection refused" in cache.refused("images", "pull", uri)
    assert "is not the name of a container image" in cache.refused("images", "pull", "Not An Image")
    assert "no such file or directory" in cache.refused("images", "pull", f"oci-archive:{tmp_path}/none.tar")
    assert "no such file or directory" in cache.refused("images", "pull", f"oci:{tmp_path}:x")
    (tmp_path / "garbage.tar").write_text("garbage\n" * 1000)
    assert "the image archive is incomplete" in cache.refused("images", "pull", f"oci-archive:{tmp_path}/garbage.tar")
    assert "is not an image archive" in cache.refused("images", "load", tmp_path / "garbage.tar")
    assert "is not there" in cache.refused("images", "load", tmp_path / "none.tar")
    assert cache.list() == [] and cache.leftovers() == []


def test_says_that_skopeo_is_missing(cache, images, registry):
    uri = registry.push(images["busybox"])
    assert "apt-get install skopeo" in cache.refused("images", "pull", uri, PATH="/nothing")


def test_credentials(cache, images, make_registry, tmp_path):
    registry = make_registry(with_password=True)
    uri = registry.push(images["busybox"])
    refused = cache.refused("images", "pull", uri)
    assert f"trainyard registries login {registry.address}" in refused
    wrong = cache.refused("registries", "login", registry.address, "--username", USER, input="wrong\n")
    assert "rejects this user name and password" in wrong and cache("registries", "list").stdout.count(USER) == 0
    done = cache("registries", "login", registry.address, "--username", USER, input=PASSWORD + "\n")
    assert done.returncode == 0, done.stderr
    cache.pull(uri)
    auth = cache.data / "registries/auth.json"
    assert auth.stat().st_mode & 0o777 == 0o600
    shown = cache("registries", "list").stdout
    assert registry.address in shown and USER in shown and PASSWORD not in shown
    notes = "".join(path.read_text() for path in (cache.images / "resolved").iterdir())
    assert PASSWORD not in notes and json.loads(auth.read_text())["auths"][registry.address]["auth"] not in notes
    assert cache("registries", "logout", registry.address).returncode == 0
    assert "You are not logged in" in cache.refused("registries", "logout", registry.address)

    other = Cache(tmp_path / "other")
    folder = docker_config(tmp_path / "docker", registry.address)
    other.pull(uri, DOCKER_CONFIG=str(folder))
    assert registry.address in other("registries", "list", DOCKER_CONFIG=str(folder)).stdout
    third = Cache(tmp_path / "third")
    docker_config(third.home / ".docker", registry.address)
    third.pull(uri)


def test_a_registry_that_dies_in_the_middle(cache, images, make_registry, cutting_proxy):
    """What was fetched stays, and the next pull goes on with it."""
    registry = make_registry()
    proxy = cutting_proxy(registry, 4 << 20)
    uri = proxy.reference(registry.push(images["heavy"]))
    refused = cache.refused("images", "pull", uri)
    assert "closed the connection too early" in refused and proxy.cuts >= 3, refused
    assert "Pulling the image again" in refused
    assert cache.list() == [] and cache.leftovers() == []
    kept = {path.name: path.stat().st_ino for path in (cache.images / "blobs/sha256").iterdir()}
    small = json.loads(images.blob(images["heavy"].digest))["layers"][-1]["digest"].removeprefix("sha256:")
    assert small in kept
    proxy.heal()
    cache.pull(uri)
    after = {path.name: path.stat().st_ino for path in (cache.images / "blobs/sha256").iterdir()}
    assert after[small] == kept[small]


def test_kill_in_the_middle(cache, images, make_registry, cutting_proxy):
    registry = make_registry()
    proxy = cutting_proxy(registry, 4 << 20)
    proxy.freeze()
    uri = proxy.reference(registry.push(images["heavy"]))
    first = cache.start("images", "pull", uri)
    assert proxy.happened.wait(DEADLINE_S)
    children = descendants(first.pid)
    assert children
    second = cache.start("images", "pull", uri)  # waits for the first
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=DEADLINE_S)
    assert cache.leftovers() != [] or second.poll() is None
    proxy.heal()
    out, err = second.communicate(timeout=DEADLINE_S)
    assert second.returncode == 0, err
    assert cache.leftovers() == []
    deadline = time.monotonic() + DEADLINE_S
    while any(alive(child) for child in children):  # skopeo dies with whoever started it
        assert time.monotonic() < deadline
        time.sleep(0.01)  # the kernel sends no word of a stranger's end
    assert merged(cache.inspect(images["heavy"].digest)["layerFolders"])["small"] == b"small"


def descendants(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_several_processes_pull_once(cache, images, make_registry, cutting_proxy):
    registry = make_registry()
    proxy = cutting_proxy(registry, None)
    uri = proxy.reference(registry.push(images["heavy"]))
    pulls = [cache.start("images", "pull", uri) for _ in range(4)]
    said = []
    for pull in pulls:
        out, err = pull.communicate(timeout=DEADLINE_S)
        assert pull.returncode == 0, err
        said.append(err)
    assert sum("Pulling image" in err for err in said) == 1, said
    assert len(cache.list()) == 1


def test_damaged_blobs(cache, images, make_registry):
    registry = make_registry()
    uri = registry.push(images["entrypoint-and-cmd"])
    layer = json.loads(images.blob(images["entrypoint-and-cmd"].digest))["layers"][-1]["digest"]
    # In the registry.
    whole = registry.blob_path(layer).read_bytes()
    registry.blob_path(layer).write_bytes(whole[:-9] + b"X" + whole[-8:])
    refused = cache.refused("images", "pull", uri)
    assert "data that does not match its digest" in refused, refused
    registry.blob_path(layer).write_bytes(whole)
    # In the cache: it is noticed, and fetched again.
    blob = cache.images / "blobs/sha256" / layer.removeprefix("sha256:")
    blob.write_bytes(whole[:-9] + b"X" + whole[-8:])
    done = cache.pull(uri)
    assert "Pulling the image again: a layer is damaged" in done.stderr
    assert hashlib.sha256(blob.read_bytes()).hexdigest() == blob.name


def test_a_layer_that_is_not_what_the_config_says(cache, images, registry):
    """Blobs and manifest match their digests; what is in the layer does not match the config's."""
    parent = json.loads(images.blob(images["busybox"].digest))
    config = json.loads(images.blob(parent["config"]["digest"]))
    config["rootfs"]["diff_ids"].append("sha256:" + hashlib.sha256(b"something else").hexdigest())
    image = images.finish("lying", config, [*parent["layers"], images.add_layer(tar_of({"/x": "y"}))])
    refused = cache.refused("images", "pull", registry.push(image))
    assert "a layer is damaged: it is sha256:" in refused
    assert cache.list() == []


def test_hostile_layers(cache, images, registry, tmp_path):
    outside = tmp_path / "outside"
    image = images.derive("busybox", "hostile", layers=[tar_of({"/../../../../../../../../" + str(outside): "x"})])
    assert "which leads out of it" in cache.refused("images", "pull", registry.push(image))
    assert not outside.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk")
@pytest.mark.parametrize("size", ["8m", "20m"])  # too small for the blobs; too small for what is in them
def test_full_disk(cache, images, registry, size):
    uri = registry.push(images["heavy"])
    cache.images.mkdir()
    run("mount", "-t", "tmpfs", "-o", f"size={size}", "none", cache.images)
    try:
        refused = cache.refused("images", "pull", uri)
        assert "No space left on device" in refused or "the disk is full" in refused or "the disk has" in refused, refused
        assert cache.list() == [] and cache.leftovers() == []
        run("mount", "-o", "remount,size=100m", cache.images)
        cache.pull(uri)
    finally:
        run("umount", cache.images)


def test_archives_layouts_and_names(cache, images, registry, tmp_path):
    archive = images.archive("cmd-only")
    done = cache("images", "load", archive)
    assert done.returncode == 0 and done.stdout.strip() == "localhost/cmd-only:v1", done.stderr
    assert cache.inspect("localhost/cmd-only:v1")["loaded"] is True
    run("skopeo", "copy", "--insecure-policy", "-q", images["user"].layout, f"docker-archive:{tmp_path}/user.tar:localhost/user:v2")
    assert cache("images", "load", tmp_path / "user.tar").stdout.strip() == "localhost/user:v2"
    assert cache.inspect("localhost/user:v2")["user"] == "app"
    cache.pull(f"docker-archive:{tmp_path}/user.tar")
    cache.pull(images["neither"].layout)
    assert cache.inspect(images["neither"].digest)["command"] == []
    # A loaded image is found by its name, without any registry.
    assert cache.pull("localhost/cmd-only:v1").stdout.strip().startswith("localhost/cmd-only@sha256:")
    # From the cache, from a file and from a layout to a registry.
    for number, source in enumerate(("localhost/cmd-only:v1", str(archive), images["cmd-only"].layout)):
        done = cache("images", "push", source, f"{registry.address}/pushed/{number}:v1")
        assert done.returncode == 0, done.stderr
        there = run("skopeo", "inspect", "--raw", "--tls-verify=false", f"docker://{registry.address}/pushed/{number}:v1")
        assert done.stdout.strip() == f"{registry.address}/pushed/{number}@sha256:{hashlib.sha256(there).hexdigest()}"
        Cache(tmp_path / f"other{number}").pull(done.stdout.strip())
    assert "cannot push to" in cache.refused("images", "push", "localhost/cmd-only:v1", "127.0.0.1:1/x:v1")


def test_a_new_image_of_an_old_name(cache, images, registry):
    """Tags move; digests stay. Loading under a name takes it from the former image."""
    uri = registry.push(images["cmd-only"], "moving/name")
    first = cache.pull(uri).stdout
    registry.push(images["entrypoint-only"], "moving/name")
    second = cache.pull(uri).stdout
    assert first != second and len(cache.list()) == 2
    assert cache.inspect(uri)["digest"] == images["entrypoint-only"].digest
    assert cache.pull(first.strip()).stderr == ""


def test_removes_what_nobody_uses(cache, images, registry):
    small, large = registry.push(images["entrypoint-only"]), registry.push(images["user"])
    for uri in (small, large, registry.push(images["cmd-only"])):
        cache.pull(uri)
    assert cache("images", "load", images.archive("neither")).returncode == 0
    shared = json.loads(images.blob(images["cmd-only"].digest))["layers"][0]["digest"]
    digest = images["user"].digest
    # A shared lock on the image's file is what a running job holds.
    with subprocess.Popen(["flock", "--shared", cache.images / f"images/sha256/{digest.removeprefix('sha256:')}.use", "sh", "-c",
                           "echo locked; cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as user:
        assert Output(user.stdout).line() == "locked\n"
        assert "is used by a job" in cache.refused("images", "remove", digest)
        assert next(row for row in cache.list() if row["digest"] == digest)["inUse"] is True
        done = cache("images", "remove", small)
        assert done.returncode == 0 and f"Removed {images['entrypoint-only'].digest}" in done.stderr
        assert (cache.images / "blobs" / shared.replace(":", "/")).exists()  # cmd-only has it too
        assert cache("images", "remove", "--unused").returncode == 0
        assert [row["digest"] for row in cache.list()] == [digest]
        assert merged(cache.inspect(digest)["layerFolders"])["bin/show"].startswith(b"#!")
        user.stdin.close()
    assert cache("images", "remove", "--unused").returncode == 0
    # Queued jobs need to know how their images were found, for as long as they may wait.
    left = [path for path in cache.images.rglob("*") if path.is_file() and path.suffix not in (".lock", ".use")]
    assert {path.parent for path in left} == {cache.images / "resolved"} and len(left) == 4
    assert list((cache.images / "layers/sha256").iterdir()) == []
    assert "There is no image" in cache.refused("images", "remove", digest)
    nothing_named = cache("images", "remove")
    assert nothing_named.returncode == 2 and "Specify either the images to remove or --unused" in nothing_named.stderr
