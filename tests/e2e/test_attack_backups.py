"""A backup is everything: who may ask for one through the API says nowhere where it goes, and one that others made leads a restore nowhere."""

import json
import os
import shutil
import stat
import struct
import subprocess
import tempfile
from typing import Any

import pytest

from trainyard_server import PROGRAM, Server, end_supervisors, wait_for


def wait_for_backup(server, token):
    return wait_for(lambda: (lambda seen: seen if seen["state"] != "RUNNING" else None)(
        server.request("GET", "/trainyard/v1/admin/backup", token).json()), lambda: server.stderr()[-2000:])


def begin(server, token, folder, **more):
    return server.request("POST", "/trainyard/v1/admin/backup", token, json={"directory": str(folder), **more})


def admin(server, *words):
    return server.trainyard("admin", *words)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("backups").resolve()
    (folder / "bucket").mkdir()
    (folder / "allowed").mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="module")
def server(place):
    server: Any = Server(place / "data", "--auth", "on", "--bucket-dir", f"reads={place}/bucket", "--backup-dir", f"{place}/allowed")
    made = server.request("POST", "/trainyard/v1/tokens", json={"principal": "user:op@example.com", "roles": ["roles/trainyard.operator"]})
    server.operator = made.json()["text"]
    yield server
    server.stop()


def test_the_api_makes_none_unless_the_operator_says_where(make_server, tmp_path):
    server = make_server("--auth", "on")
    refused = begin(server, server.token, tmp_path / "backup")
    assert refused.status_code == 400 and "FAILED_PRECONDITION" in refused.text and "--backup-dir DIR" in refused.text, refused.text
    assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize("where", ["bucket/x", "elsewhere", "allowed/../bucket/x", "allowed", "allowedx", "data/buckets/team-data/x"])
def test_an_operator_names_only_places_below_it(server, place, where):
    for token in (server.operator, server.token):
        refused = begin(server, token, f"{place}/{where}")
        assert refused.status_code == 400 and "--backup-dir" in refused.text, refused.text
    assert not list((place / "bucket").iterdir()) and not (place / "elsewhere").exists()


def test_no_link_below_it_is_followed(server, place):
    (place / "allowed/link").symlink_to(place / "bucket")
    assert begin(server, server.operator, place / "allowed/link/x").ok
    failed = wait_for_backup(server, server.operator)
    assert failed["state"] == "FAILED" and "is a link" in failed["error"], failed
    assert not list((place / "bucket").iterdir())


def test_below_it_it_is_the_servers_alone(server, place):
    assert begin(server, server.operator, place / "allowed/monday").ok
    made = wait_for_backup(server, server.operator)
    assert made["state"] == "SUCCEEDED", made
    assert stat.S_IMODE((place / "allowed/monday").stat().st_mode) == 0o700
    assert stat.S_IMODE((place / "allowed/monday/access.db").stat().st_mode) == 0o600


def test_it_gives_its_reader_no_server(server, place):
    """A restored server makes a token of its own for who starts it."""
    assert not list((place / "allowed/monday").rglob("admin-token"))
    restored = place / "of-monday"
    back = admin(server, "restore", f"{place}/allowed/monday", "--data", str(restored))
    assert back.returncode == 0, back.stderr
    again = Server(restored, "--auth", "on")
    try:
        assert again.token != server.token
        assert again.request("GET", "/trainyard/v1/admin/status").ok
    finally:
        again.stop()


@pytest.mark.parametrize("network", ["host", "isolated"])
def test_no_job_sees_the_operators_folder(tmp_path, packages, environments, network):
    """Not below /tmp, which each job has for itself. A package of a root server is root, whose the folder is."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="ty-backups-") as folder:
        server = Server(tmp_path / "data", "--auth", "on", "--backup-dir", folder, "--network", network, environments=environments)
        try:
            server.request("POST", "/storage/v1/b", params={"project": "p"}, json={"name": "packages"}).raise_for_status()
            uri = server.upload("packages", "probe.tar.gz", packages["probe"].read_bytes())
            assert begin(server, server.token, f"{folder}/monday").ok
            assert wait_for_backup(server, server.token)["state"] == "SUCCEEDED"
            server.submit("reads", packageUris=[uri], pythonModule="probe.task",
                          args=["shell", f"ls -A {folder}; ls {folder}/monday/access.db; echo looked"])
            server.wait("reads")
            said = server.texts("reads")
            assert "looked" in said and not [line for line in said if line in ("monday", f"{folder}/monday/access.db")], said
            assert os.path.exists(f"{folder}/monday/access.db")
        finally:
            server.stop()
            end_supervisors(server.data)


def test_the_operators_folder_holds_nothing_that_jobs_need(tmp_path):
    refused = subprocess.run([PROGRAM, "serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--backup-dir", str(tmp_path)],
                             capture_output=True, text=True, timeout=20)
    assert refused.returncode != 0 and "--backup-dir" in refused.stderr and "which jobs can see" in refused.stderr, refused


def test_the_command_on_the_machine_names_any_folder_but_what_jobs_read(server, place):
    anywhere = admin(server, "backup", f"{place}/elsewhere2", "--data", str(server.data))
    assert anywhere.returncode == 0, anywhere.stderr
    for folder in (place / "bucket/y", server.data / "buckets/team-data/y"):
        refused = admin(server, "backup", str(folder), "--data", str(server.data))
        assert refused.returncode == 1 and not folder.exists(), refused.stderr


def spoil_name(backup, manifest):
    (backup.parent / "outside").mkdir()
    (backup.parent / "outside/file").write_text("of the attacker")
    manifest["trees"].append({"name": "../outside", "files": "1"})


def spoil_database_name(backup, manifest):
    name = manifest["databases"][0]["name"]
    (backup / name).rename(backup.parent / name)
    manifest["databases"][0]["name"] = "../" + name


def spoil_by_link(backup, manifest):
    shutil.rmtree(backup / "buckets")
    (backup / "buckets").symlink_to(backup.parent / "secrets-of-the-machine")


def spoil_by_inner_link(backup, manifest):
    name = next(tree["name"] for tree in manifest["trees"] if (backup / tree["name"]).is_dir() and tree["name"] != "buckets")
    (backup / name / "link").symlink_to(backup.parent / "secrets-of-the-machine/file")


def spoil_by_a_journal(backup, manifest):
    """Its database would be rolled back when it is opened, and what the journal names as its master removed."""
    database, victim = backup / "objects.db", str(backup.parent / "secrets-of-the-machine/file").encode()
    pages, sector = database.read_bytes(), 512
    size = {1: 65536}.get(found := struct.unpack(">H", pages[16:18])[0], found)
    magic, first = bytes.fromhex("d9d505f920a163d7"), pages[:size]
    journal = (magic + struct.pack(">IIIII", 1, 0, len(pages) // size, sector, size)).ljust(sector, b"\0")
    journal += struct.pack(">I", 1) + first + struct.pack(">I", sum(first[size - 200:0:-200]) & 0xffffffff)
    journal += struct.pack(">I", 0x40000000 // size + 1) + victim + struct.pack(">II", len(victim), sum(victim)) + magic
    (backup / "objects.db-journal").write_bytes(journal)
    manifest["trees"].append({"name": "objects.db-journal", "files": "1"})


@pytest.fixture(scope="module")
def good(place):
    """A backup as it should be."""
    server = Server(place / "another")
    server.upload("team-data", "o", b"content")
    made = admin(server, "backup", str(place / "good"), "--data", str(server.data))
    server.stop()
    assert made.returncode == 0, made.stderr
    return server, place / "good"


@pytest.mark.parametrize("spoil", [spoil_name, spoil_database_name, spoil_by_link, spoil_by_inner_link, spoil_by_a_journal])
def test_a_hostile_backup_leads_nowhere(good, spoil, tmp_path):
    server, folder = good
    backup = tmp_path / "backup"
    shutil.copytree(folder, backup)
    (tmp_path / "secrets-of-the-machine").mkdir()
    (tmp_path / "secrets-of-the-machine/file").write_text("secret")
    manifest = json.loads((backup / "backup.json").read_text())
    spoil(backup, manifest)
    (backup / "backup.json").write_text(json.dumps(manifest))
    restored = tmp_path / "inner/restored"
    refused = admin(server, "restore", str(backup), "--data", str(restored))
    assert (tmp_path / "secrets-of-the-machine/file").read_text() == "secret"
    assert refused.returncode == 1, (refused, os.listdir(tmp_path))
    assert not [path for path in (tmp_path / "inner").rglob("*") if path.is_file() and path.read_bytes() == b"secret"]
    assert set(os.listdir(tmp_path / "inner") if (tmp_path / "inner").exists() else []) <= {"restored"}
