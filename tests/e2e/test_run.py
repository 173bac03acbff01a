"""`trainyard run` and what follows it, with a real server: variables, secrets, the job's folder."""

import json
import os
import pathlib
import signal
import subprocess
import textwrap
import threading

from process_output import Output
from trainyard_server import DEADLINE_S, PROGRAM, RUNTIME, wait_for

VALUE = "hunter2-Zeile/0815"
LINES = "-----BEGIN KEY-----\nQ0FGRUJBQkU\n=="


def environment(server, **variables):
    return {**os.environ, "TRAINYARD_SERVER": server.url, "CLOUDSDK_CORE_PROJECT": "p", **variables}


def run(server, folder, *words, env=None, **options):
    return subprocess.run([PROGRAM, *words], cwd=folder, env=env or environment(server), capture_output=True, text=True,
                          timeout=DEADLINE_S, stdin=subprocess.DEVNULL, **options)


def job_of(done):
    return done.stderr.split("Job [")[1].split("]")[0]


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def test_a_script_runs_as_it_is(server, tmp_path):
    """One command: its modules, its data, its arguments; its folder is written and read back; the same again."""
    folder = tmp_path / "mine"
    write(folder, "helper.py", "def twice(x):\n    return 2 * x\n")
    write(folder, "data/numbers.txt", "20\n22\n")
    write(folder, "tool.sh", "#!/bin/sh\necho executable\n").chmod(0o755)
    write(folder, "train.py", """\
        import os, subprocess, sys, urllib.request
        import helper
        total = sum(int(line) for line in open("data/numbers.txt"))
        print("arguments", sys.argv[1:], "twice", helper.twice(total), __name__, os.path.basename(__file__))
        open("scratch.txt", "w").write("may be written")
        print("tool says", subprocess.run(["./tool.sh"], check=True, capture_output=True, text=True).stdout)
        folder = os.environ["TRAINYARD_JOB_DIR"]
        bucket, name = folder[len("gs://"):].split("/", 1)
        url = os.environ["STORAGE_EMULATOR_HOST"] + f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}/out/model.txt"
        urllib.request.urlopen(urllib.request.Request(url, data=b"weights", method="POST"))
        """)
    done = run(server, tmp_path, "run", "--runtime-version", RUNTIME, "--name", "first", "mine/train.py", "--epochs", "3", "--name", "x")
    assert done.returncode == 0, done.stderr
    assert "arguments ['--epochs', '3', '--name', 'x'] twice 84 __main__ train.py" in done.stdout
    assert "tool says executable" in done.stdout
    assert done.stderr == ("Job [first] submitted. Its folder: gs://p-runs/first\nJob [first] succeeded.\n"
                           "Files of its working directory: gs://p-runs/first/workdir/\nDownload them:  trainyard jobs download first\n")
    got = run(server, tmp_path, "jobs", "download", "first", "got")
    assert got.returncode == 0, got.stderr
    downloaded = [str(path.relative_to(tmp_path / "got")) for path in sorted((tmp_path / "got").rglob("*")) if path.is_file()]
    assert downloaded == ["out/model.txt", "workdir/scratch.txt"]
    again = run(server, tmp_path, "jobs", "rerun", "first", "--name", "second", "--async", "--", "--epochs", "4")
    assert again.returncode == 0, again.stderr
    waited = run(server, tmp_path, "jobs", "wait", "second")
    assert (waited.returncode, waited.stderr) == (0, "Job [second] succeeded.\n")
    job = server.get("second")
    assert job["trainingInput"]["args"] == ["--epochs", "4"]
    assert job["trainingInput"]["jobDir"] == "gs://p-runs/second" and job["trainingInput"]["jobDirAsVariable"]
    # What describe prints is a configuration file.
    described = run(server, tmp_path, "jobs", "describe", "second", "--format", "yaml")
    write(tmp_path, "second.yaml", described.stdout)
    third = run(server, tmp_path, "jobs", "submit", "training", "third", "--config", "second.yaml", "--region", "us-central1",
                "--packages", ",".join(job["trainingInput"]["packageUris"]))
    assert third.returncode == 0, third.stderr
    assert server.wait("third")["state"] == "SUCCEEDED"


def files_with(data, values, besides):
    """Files below the data directory that have one of the values in them."""
    found = []
    for folder, folders, names in os.walk(data):
        folders[:] = [name for name in folders if os.path.join(folder, name) != str(besides)]
        for name in names:
            path = pathlib.Path(folder) / name
            try:
                content = path.read_bytes() if path.is_file() else b""
            except FileNotFoundError:  # removed meanwhile
                continue
            found += [str(path) for value in values if value.encode() in content]
    return found


SECRETIVE = """\
    import json, logging, os, sys, time, urllib.request
    token, key = os.environ["TOKEN"], os.environ["KEY"]
    print("level", os.environ["LEVEL"], "lengths", len(token), len(key), flush=True)
    print("plain " + token)
    sys.stdout.write("in pieces " + token[:5]); sys.stdout.flush(); sys.stdout.write(token[5:] + " end\\n"); sys.stdout.flush()
    print(json.dumps({"message": "structured " + token, "field": [token]}), flush=True)
    logging.warning("logged %s", token)
    print(key, flush=True)
    print("ready", flush=True)
    url = os.environ["STORAGE_EMULATOR_HOST"] + "/storage/v1/b/p-runs/o/go"
    while True:
        try:
            urllib.request.urlopen(url)
            break
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("with " + token)
    """


def test_a_secret_reaches_the_program_and_nothing_else(server, tmp_path):
    write(tmp_path, "keep.py", SECRETIVE)
    env = environment(server, TOKEN=VALUE, KEY=LINES)
    values = [VALUE, "Q0FGRUJBQkU"]
    outcome = {}
    follower = threading.Thread(target=lambda: outcome.update(done=run(
        server, tmp_path, "run", "--runtime-version", RUNTIME, "--name", "kept", "--env", "LEVEL=7", "--secret", "TOKEN", "--secret",
        "KEY", "keep.py", env=env)))
    follower.start()
    wait_for(lambda: server.request("GET", "/v1/projects/p/jobs/kept").ok or None, lambda: "no job")
    server.wait_for_text("kept", "ready")
    secrets = server.data / "secrets"
    assert files_with(server.data, values, besides=secrets) == []
    kept = list(secrets.iterdir())
    assert [(oct(path.stat().st_mode & 0o777), VALUE.encode() in path.read_bytes()) for path in kept] == [("0o600", True)]
    assert oct(secrets.stat().st_mode & 0o777) == "0o700"
    described = run(server, tmp_path, "jobs", "describe", "kept")
    server.upload("p-runs", "go", b"1")
    follower.join()
    done = outcome["done"]
    assert done.returncode == 1, done.stderr
    assert server.wait("kept")["state"] == "FAILED"
    shown = done.stdout + done.stderr + described.stdout + described.stderr + str(server.log_entries("kept")) + str(server.get("kept"))
    shown += server.request("GET", "/trainyard/v1/projects/p/jobs/kept").text
    assert not [value for value in values if value in shown], shown
    texts = server.texts("kept")
    for text in (f"level 7 lengths {len(VALUE)} {len(LINES)}", "plain ***", "in pieces *** end", "structured ***", "logged ***", "***"):
        assert text in texts, texts
    assert "RuntimeError: with ***" in server.get("kept")["errorMessage"]
    assert list(secrets.iterdir()) == []
    assert files_with(server.data, values, besides=None) == []
    # A rerun reads them again, and says what it lacks.
    lacking = run(server, tmp_path, "jobs", "rerun", "kept")
    assert lacking.returncode == 1
    assert lacking.stderr == ("ERROR: (trainyard.jobs.rerun) The secret TOKEN has no value: the environment variable is not set, and "
                              "there is no terminal to prompt on. Set it: export TOKEN=...\n")


def test_a_secret_without_a_value_is_refused(server, upload):
    answer = server.create("none", packageUris=[upload(server, "probe")], pythonModule="probe.task", env=[{"name": "TOKEN", "secret": True}])
    assert answer.status_code == 400
    assert "Field: env[0].value Error: The secret TOKEN has no value." in answer.text
    answer = server.create("none", packageUris=[upload(server, "probe")], pythonModule="probe.task",
                           env=[{"name": "TOKEN", "value": VALUE, "secret": True}, {"name": "TF_CONFIG", "value": "x"}])
    assert answer.status_code == 400
    assert VALUE not in answer.text
    assert list((server.data / "secrets").iterdir()) == []


def test_what_the_service_sets_is_reserved(server, tmp_path):
    """Every variable that a replica has is refused, but for those that a job may well set."""
    write(tmp_path, "show.py", "import os\nfor name in os.environ:\n    print('variable', name)\n")
    done = run(server, tmp_path, "run", "--runtime-version", RUNTIME, "--name", "show", "show.py")
    assert done.returncode == 0, done.stderr
    names = [text.split()[1] for text in server.texts("show") if text.startswith("variable ")]
    assert "TF_CONFIG" in names
    free = {"LANG", "LC_CTYPE", "PYTHONUNBUFFERED", "OMP_NUM_THREADS", "KMP_BLOCKTIME", "KMP_AFFINITY", "KMP_SETTINGS", "PWD", "SHLVL", "_",
            "TRAINYARD_JOB_DIR", "AIP_MODEL_DIR", "AIP_CHECKPOINT_DIR", "AIP_TENSORBOARD_LOG_DIR", "OLDPWD"}
    for name in set(names) - free:
        answer = server.create("refused", packageUris=["gs://bucket/p.tar.gz"], pythonModule="m", env=[{"name": name, "value": "x"}])
        assert f"The variable {name} is set by the service." in answer.text, (name, answer.text)


def kept(server, job_id):
    folder = server.data / "buckets/p-runs" / job_id / "workdir"
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_the_working_directory_is_kept_whatever_the_end(server, tmp_path):
    """What is new or changed, and nothing else; what cannot be kept is named."""
    write(tmp_path, "failed/helper.py", "")
    write(tmp_path, "failed/settings.txt", "as sent")
    write(tmp_path, "failed/same.txt", "as sent")
    write(tmp_path, "failed/train.py", """\
        import os, helper
        os.makedirs("plots/deep")
        open("plots/deep/loss curve.txt", "w").write("a plot")
        open("settings.txt", "a").write(", and changed")
        open("empty", "w").close()
        os.makedirs("mlruns/0/ab12/metrics/val")
        open("mlruns/0/ab12/metrics/val/loss", "w").write("1700000000000 0.5 1\\n1700000001000 0.25 2\\n")
        os.symlink("/etc/passwd", "link")
        os.symlink("/etc", "folder")
        os.mkfifo("pipe")
        raise SystemExit(1)
        """)
    done = run(server, tmp_path, "run", "--runtime-version", RUNTIME, "--name", "failed", "failed/train.py")
    assert done.returncode == 1
    assert done.stderr.endswith("Files of its working directory: gs://p-runs/failed/workdir/\nDownload them:  trainyard jobs download failed\n")
    assert kept(server, "failed") == {"plots/deep/loss curve.txt": "a plot", "settings.txt": "as sent, and changed", "empty": "",
                                      "mlruns/0/ab12/metrics/val/loss": "1700000000000 0.5 1\n1700000001000 0.25 2\n"}
    scalars = server.request("GET", "/trainyard/v1/projects/p/jobs/failed/scalars").json()["items"]
    assert [(one["name"]["run"], one["name"]["tag"], one["lastStep"]) for one in scalars] == [("workdir/mlruns/0/ab12", "val/loss", 2)]
    said = [(entry["severity"], entry["jsonPayload"]["message"]) for entry in server.log_entries("failed") if "working directory" in str(entry)]
    assert said == [("INFO", "Kept 4 files of the working directory (67 bytes) in gs://p-runs/failed/workdir/"),
                    ("WARNING", "Not kept of the working directory: folder (a link), link (a link), pipe (neither a file nor a folder).")]
    write(tmp_path, "cancelled/train.py", """\
        import time
        open("partly.txt", "w").write("so far")
        print("ready", flush=True)
        time.sleep(600)
        """)
    assert run(server, tmp_path, "run", "--async", "--runtime-version", RUNTIME, "--name", "cancelled", "cancelled/train.py").returncode == 0
    server.wait_for_text("cancelled", "ready")
    server.cancel("cancelled")
    assert server.wait("cancelled")["state"] == "CANCELLED"
    assert kept(server, "cancelled") == {"partly.txt": "so far"}


def test_a_notebook_is_kept_with_what_its_cells_show(server, tmp_path):
    def code(*lines):
        return {"cell_type": "code", "source": list(lines), "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{"cell_type": "markdown", "source": ["# Title"], "metadata": {}}, code("x = 20\n", "print('seen')"),
             code("class Plot:\n", "    def _repr_png_(self):\n", "        return b'PNG'\n", "    def __repr__(self):\n",
                  "        return '<Plot>'\n", "display(Plot())\n", "2 * x + 2"), code("import json, look\n", "x = 1;"),
             code("print('\\rEpoch', 1, end='')\n", "print('\\rEpoch', 2)"), code("\n", "raise ValueError('no more')"), code("x = (")]
    write(tmp_path, "n/look.py", "")  # a module, as installed ones are
    write(tmp_path, "n/look.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    done = run(server, tmp_path, "run", "--runtime-version", RUNTIME, "--name", "look", "n/look.ipynb")
    assert done.returncode == 1 and "42" in done.stdout, done
    failure = server.get("look")["errorMessage"]
    assert 'File "look.ipynb", cell 5, line 2' in failure and "trainyard_" not in failure, failure
    assert list(kept(server, "look")) == ["look.ipynb"]
    shown = [cell.get("outputs") for cell in json.loads(kept(server, "look")["look.ipynb"])["cells"]]
    assert shown[:4] == [None, [{"output_type": "stream", "name": "stdout", "text": ["seen", "\n"]}],
                         [{"output_type": "display_data", "metadata": {}, "data": {"text/plain": "<Plot>", "image/png": "UE5H"}},
                          {"output_type": "execute_result", "execution_count": 2, "metadata": {}, "data": {"text/plain": "42"}}], []]
    assert "".join(shown[4][0]["text"]) == "Epoch 2\n"
    assert (shown[5][0]["ename"], shown[5][0]["evalue"]) == ("ValueError", "no more")


def test_ctrl_c_leaves_the_job(server, tmp_path):
    write(tmp_path, "long.py", "import time\nprint('runs', flush=True)\ntime.sleep(600)\n")
    process = subprocess.Popen([PROGRAM, "run", "--runtime-version", RUNTIME, "--name", "long", "long.py"], cwd=tmp_path,
                               env=environment(server), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    Output(process.stdout).until(b"runs")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130
    assert said.endswith("\nThe job continues. Follow its log:  trainyard jobs stream-logs long\n"
                         "Cancel it:                          trainyard jobs cancel long\n")
    server.cancel("long")
    assert server.wait("long")["state"] == "CANCELLED"


def test_without_a_server_the_one_command_is_named(tmp_path):
    write(tmp_path, "train.py", "print(1)\n")
    env = {**os.environ, "TRAINYARD_SERVER": "http://127.0.0.1:9"}
    done = subprocess.run([PROGRAM, "run", "train.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 1
    assert "Start a server with `trainyard serve`" in done.stderr
