"""A disk that goes read-only or dies under a running server: who asks hears the reason and the remedy, and it ends with the trouble."""

import fcntl
import os
import subprocess

import pytest
import requests

from trainyard_server import wait_for

EXT4_IOC_SHUTDOWN = 0x8004587D
WITHOUT_FLUSH = 2


@pytest.fixture
def disk(tmp_path):
    """An ext4 of its own as the data directory."""
    image, folder = tmp_path / "disk.img", tmp_path / "data"
    folder.mkdir()
    with open(image, "wb") as file:
        file.truncate(96 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    if subprocess.run(["mount", "-o", "loop,errors=remount-ro", image, folder], capture_output=True).returncode != 0:
        pytest.skip("a disk of a test needs root and a loop device")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def go_read_only(folder):
    device = subprocess.run(["findmnt", "-n", "-o", "SOURCE", folder], check=True, capture_output=True, text=True).stdout.strip()
    with open(f"/sys/fs/ext4/{os.path.basename(device)}/trigger_fs_error", "w", encoding="ascii") as file:
        file.write("1")


def die(folder):
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, EXT4_IOC_SHUTDOWN, WITHOUT_FLUSH.to_bytes(4, "little"))
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("hurt, reason", [(go_read_only, "mounted read-only"), (die, "answers with errors")])
def test_a_sick_disk_is_named_to_whoever_asks(make_server, disk, tmp_path, hurt, reason):
    server = make_server("--queue-below-free", "0", "--refuse-below-free", "0", data=disk)
    server.upload("models", "kept", b"content")
    hurt(disk)
    ready = f"{server.url}/readyz"
    wait_for(lambda: reason in requests.get(ready, timeout=60).text or None, lambda: requests.get(ready, timeout=60).text)
    for path in ("/v1/projects/p/jobs", "/upload/storage/v1/b/models/o?uploadType=media&name=new"):
        answer = requests.post(server.url + path, json={"jobId": "new", "trainingInput": {"region": "us-central1"}}, timeout=60)
        assert answer.status_code == 503, answer.text
        assert reason in answer.text and "dmesg" in answer.text and str(tmp_path) not in answer.text
    if hurt is go_read_only:
        assert requests.get(f"{server.url}/v1/projects/p/jobs", timeout=60).status_code == 200
        assert requests.get(f"{server.url}/download/storage/v1/b/models/o/kept?alt=media", timeout=60).content == b"content"
