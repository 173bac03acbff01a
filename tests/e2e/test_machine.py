"""What the server says of its machine: disks, CPUs, memory, the last day, kept images, and what replicas do to disks."""

import os

from trainyard_server import RUNTIME, wait_for


def ask(server, path, **options):
    return server.request("GET", "/trainyard/v1/" + path, **options)


def test_the_machine_now_and_before(make_server, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    server = make_server("--auth", "on", "--bucket-dir", f"shared={elsewhere}", "--accelerators", "nvidia-tesla-t4=2")
    machine = ask(server, "machine").json()
    assert machine["hostName"] == os.uname().nodename and machine["system"] and machine["version"] and machine["serverStartTime"]
    assert machine["cpus"] >= 1 and 0 <= machine.get("cpuUtilization", 0) <= 1
    assert int(machine["memoryBytes"]) > int(machine["memoryBytesUsed"]) > 0
    assert sorted(sum((disk["holds"] for disk in machine["disks"]), [])) == ["bucket shared", "data"]
    assert all(int(disk["bytes"]) >= int(disk["bytesFree"]) > 0 for disk in machine["disks"])
    assert [gpu["type"] for gpu in machine["gpus"]] == ["nvidia-tesla-t4"] * 2
    viewer = server.token_for("user:ann@example.com", "roles/ml.viewer")
    hidden = ask(server, "machine", token=viewer).json()
    assert sorted(sum((disk["holds"] for disk in hidden["disks"]), [])) == ["a bucket", "data"]
    assert ask(server, "machine", token="").status_code == 401
    history = wait_for(lambda: (lambda told: told if max(told["memoryUtilization"]) > 0 else None)(ask(server, "machine/usage").json()),
                       lambda: ask(server, "machine/usage").text)
    assert history["stepSeconds"] == "60" and {len(history[column]) for column in history if isinstance(history[column], list)} == {1440}
    assert history["gpuUtilization"][-1] == 0 and history["replicas"][-1] == 0
    for hours, status in (("1", 200), ("1008", 200), ("0", 400), ("1009", 400), ("x", 400)):
        assert ask(server, "machine/usage?hours=" + hours).status_code == status
    assert ask(server, "images").json() == {}


def test_what_a_replica_does_to_disks(make_server, tmp_path):
    server = make_server()
    program = tmp_path / "train.py"
    program.write_text("import os, time\nwith open('data', 'wb') as file:\n    file.write(os.urandom(8 << 20))\n    file.flush()\n"
                       "    os.fsync(file.fileno())\nprint('written', flush=True)\ntime.sleep(120)\n")
    ran = server.trainyard("run", "--async", "--runtime-version", RUNTIME, "--name", "writes", program, cwd=tmp_path)
    assert not ran.returncode, ran.stderr
    server.wait_for_text("writes", "written")

    def written():
        series = ask(server, "projects/p/jobs/writes/metrics?maxPoints=8&metric=ml.googleapis.com/training/disk/written_bytes_count").json()
        points = [point for one in series.get("timeSeries", []) for point in one["points"]]
        return sum(int(point["value"]["int64Value"]) for point in points) >= 8 << 20 or None
    wait_for(written, lambda: ask(server, "projects/p/jobs/writes/metrics").text)
    server.cancel("writes")
    server.wait("writes")
    for points, status in (("8", 200), ("7", 400), ("2001", 400), ("many", 400)):
        assert ask(server, "projects/p/jobs/writes/metrics?maxPoints=" + points).status_code == status
