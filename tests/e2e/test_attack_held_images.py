"""Images that attack whoever unpacks or runs them, and have always failed: names with `..`, hard links, links
that lead out, deletions through links, devices. The table of single entries is programs/image/layer_test.cc; here
`trainyard images pull` and a job are attacked through a real registry."""

import io
import json
import os
import pathlib
import tarfile

import pytest

from container_engines import run_job
from test_images import cache  # a fixture  # noqa: F401
from trainyard_server import Server, end_supervisors

SECRET = "SECRET-of-the-machine"


@pytest.fixture
def machine(tmp_path):
    """What an image should never reach: a folder with a secret."""
    folder = tmp_path / "machine"
    (folder / "inner").mkdir(parents=True)
    (folder / "secret").write_text(SECRET)
    (folder / "inner/file").write_text(SECRET)
    return folder


def entry(name, kind=tarfile.REGTYPE, link="", content=b"", mode=None, device=(0, 0), **pax):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(content)
    info.mode = mode or (0o755 if kind == tarfile.DIRTYPE else 0o644)
    info.devmajor, info.devminor = device
    info.pax_headers = pax
    return info, io.BytesIO(content)


def layer(*entries):
    """Names as they are: tar_of would take the leading slash away."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, content in entries:
            tar.addfile(info, content)
    return buffer.getvalue()


SYM, HARD, FOLDER = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE
UP = "../" * 12
EVIL = b"evil"


def attacks(machine):
    """Layers, the lowest first, by what they try."""
    out, deep = str(machine), UP + str(machine).lstrip("/")
    inner = entry("etc/door", SYM, out)
    return {
        "up": [[entry(UP + "evil", content=EVIL)]],
        "up_to_the_machine": [[entry(f"{deep}/evil", content=EVIL)]],
        "up_in_the_middle": [[entry(f"a/b/../../../{deep}/evil", content=EVIL)]],
        "absolute": [[entry(f"{out}/evil", content=EVIL)]],
        "folder_up": [[entry("a/..", FOLDER)]],
        "hard_link_up": [[entry("stolen", HARD, f"{deep}/secret")]],
        "hard_link_absolute": [[entry("stolen", HARD, f"{out}/secret")]],
        "hard_link_through_a_link": [[inner, entry("stolen", HARD, "etc/door/secret")]],
        "hard_link_to_a_link": [
            [entry("to", SYM, f"{out}/secret"), entry("stolen", HARD, "to"), entry("stolen", content=EVIL)]
        ],
        "hard_link_into_another_layer": [[entry("one", content=b"1")], [entry("stolen", HARD, "../one/one")]],
        "write_through_a_link": [
            [inner, entry("etc/door/evil", content=EVIL), entry("etc/door/secret", content=EVIL)]
        ],
        "write_through_a_relative_link": [[entry("door", SYM, deep), entry("door/secret", content=EVIL)]],
        "write_through_two_links": [
            [entry("one", SYM, "two"), entry("two", SYM, out), entry("one/secret", content=EVIL)]
        ],
        "write_through_the_layer_below": [[inner], [entry("etc/door/secret", content=EVIL)]],
        "overwrite_a_link": [[entry("to", SYM, f"{out}/secret"), entry("to", content=EVIL)]],
        "folder_in_place_of_a_link": [
            [inner, entry("etc/door", FOLDER), entry("etc/door/secret", content=EVIL)]
        ],
        "mode_of_a_link": [[inner, entry("etc/door", SYM, f"{out}/secret", mode=0o777)]],
        "delete_through_a_link": [[inner, entry("etc/door/.wh.secret")]],
        "delete_up": [[entry(f"{deep}/.wh.secret")]],
        "delete_below_a_link": [[inner], [entry("etc/door/.wh.secret"), entry("etc/.wh.door")]],
        "delete_all_through_a_link": [[inner, entry("etc/door/.wh..wh..opq")]],
        "delete_dots": [[entry(".wh...")]],
        "delete_nothing": [[entry(".wh.")]],
        "whiteout_as_a_device": [[entry("passwd", tarfile.CHRTYPE)]],
        "overlay_redirect": [[entry("etc/door", FOLDER, **{"SCHILY.xattr.trusted.overlay.redirect": out})]],
        "overlay_metacopy": [
            [
                entry(
                    "stolen",
                    **{
                        "SCHILY.xattr.trusted.overlay.metacopy": "x",
                        "SCHILY.xattr.trusted.overlay.redirect": f"{out}/secret",
                    },
                )
            ]
        ],
        "name_from_the_header_of_another": [[entry("short", content=EVIL, path=f"{deep}/evil")]],
    }


NAMES = sorted(attacks(pathlib.Path("/nowhere")))


def everything(folder):
    return {
        str(path): (
            path.lstat().st_mode,
            path.lstat().st_nlink,
            path.read_bytes() if path.is_file() else None,
        )
        for path in [folder, *folder.rglob("*")]
    }


@pytest.mark.parametrize("name", NAMES)
def test_no_layer_reaches_the_machine(name, cache, images, registry, machine):  # noqa: F811
    """It is refused, or unpacked into its own folder; the machine's is not written, linked or read."""
    before = everything(machine)
    image = images.derive(
        "busybox",
        f"attack-{name.replace('_', '-')}",
        layers=[layer(*each) for each in attacks(machine)[name]],
    )
    done = cache("images", "pull", registry.push(image))
    assert everything(machine) == before
    assert not (machine.parent / "evil").exists() and not pathlib.Path("/evil").exists()
    if done.returncode:
        assert done.returncode == 1 and "layer" in done.stderr, done
        assert cache.list() == [] and cache.leftovers() == []
        return
    for folder in map(pathlib.Path, cache.inspect(image.digest)["layerFolders"]):
        for path in folder.rglob("*"):
            assert (
                path.is_symlink()
                or not path.is_file()
                or SECRET not in path.read_bytes().decode(errors="replace")
            ), path
            assert b"overlay.redirect" not in b" ".join(
                name.encode() for name in os.listxattr(path, follow_symlinks=False)
            ), path


RUN = """
import glob, json, os
def attempt(what):
    try: return what()
    except OSError as error: return type(error).__name__
seen = {path: attempt(lambda: open(path, "rb").read(16).hex()) for path in sorted(glob.glob("/devices/*"))}
seen["write"] = attempt(lambda: os.write(os.open("/devices/disk", os.O_WRONLY), b"") and "written")
for path in ("/stolen", "/door/secret", "/etc/door/secret"):
    seen[path] = attempt(lambda: open(path).read())
print("SEEN " + json.dumps(seen), flush=True)
"""


@pytest.mark.skipif(
    os.geteuid() != 0, reason="only for root an image has devices; others refuse it (programs/image/layer_test.cc)"
)
def test_devices_and_links_of_an_image_are_dead_in_its_container(
    images, registry, environments, machine, shared_folder
):
    """Nodes of the machine's memory, kernel log and disk; links to a folder of the machine."""
    disk = os.stat("/").st_dev
    character, block = tarfile.CHRTYPE, tarfile.BLKTYPE
    nodes = [
        entry("devices", FOLDER, mode=0o755),
        entry("devices/mem", character, mode=0o666, device=(1, 1)),
        entry("devices/kmsg", character, mode=0o666, device=(1, 11)),
        entry("devices/port", character, mode=0o666, device=(1, 4)),
        entry("devices/disk", block, mode=0o666, device=(os.major(disk), os.minor(disk))),
    ]
    links = [
        entry("door", SYM, str(machine)),
        entry("stolen", SYM, f"{UP}{str(machine).lstrip('/')}/secret"),
        entry("etc/door", SYM, f"/proc/1/root{machine}"),
    ]
    image = images.derive(
        "python",
        "attack-devices",
        layers=[layer(*nodes, *links)],
        files={"/run.py": RUN},
        entrypoint=["python3", "/run.py"],
        cmd=None,
    )
    server = Server(
        shared_folder / "data", "--container-engine", "oci", "--stop-grace", "1", environments=environments
    )
    try:
        run_job(server, "devices", registry.push(image))
        seen = json.loads(next(text for text in server.texts("devices") if text.startswith("SEEN "))[5:])
    finally:
        server.stop()
        end_supervisors(server.data)
    assert set(seen) == {
        "/devices/mem",
        "/devices/kmsg",
        "/devices/port",
        "/devices/disk",
        "write",
        "/stolen",
        "/door/secret",
        "/etc/door/secret",
    }
    assert all(came in ("PermissionError", "FileNotFoundError", "OSError") for came in seen.values()), seen
