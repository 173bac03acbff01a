"""`trainyard with`: clients of a user's own machine that name no endpoint, no credentials and no certificate, unchanged."""

import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys

import pytest

from process_output import Output
from server_of_account import ServerOfAccount, become
from test_clients import PYTHON_EXAMPLE, REASON, without_state
from trainyard_server import PROGRAM, end_supervisors, processes_with

USER, NOBODY = 64327, 64328  # accounts that this machine does not have
PROJECT = "http://metadata.google.internal/computeMetadata/v1/project/project-id"
# As gcloud writes them: a user's own, and a key that was downloaded.
LOGIN = {"type": "authorized_user", "client_id": "x.apps.googleusercontent.com", "client_secret": "s", "refresh_token": "1//r"}
WITHOUT = ("TRAINYARD_SERVER", "TRAINYARD_DATA", "CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT", "STORAGE_EMULATOR_HOST")


def own_environment(tmp_path, **more):
    """A shell that knows of no server, of a user with a home of their own."""
    kept = {name: value for name, value in os.environ.items() if name not in WITHOUT}
    return {**kept, "HOME": str(tmp_path), "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"), **more}


@pytest.fixture
def run_with(server, tmp_path):
    def run(*command, timeout=120, **more):
        return subprocess.run([PROGRAM, "with", "--data", str(server.data), "--", *command], capture_output=True, text=True,
                              timeout=timeout, env=own_environment(tmp_path, **more))
    return run


def log_in(tmp_path):
    """The user's own credentials for Google, both kinds."""
    (tmp_path / "gcloud").mkdir()
    (tmp_path / "gcloud/application_default_credentials.json").write_text(json.dumps(LOGIN))
    key = tmp_path / "key.json"
    key.write_text(json.dumps(LOGIN))
    return {"GOOGLE_APPLICATION_CREDENTIALS": str(key)}


@pytest.mark.parametrize("is_logged_in", [False, True], ids=["fresh", "logged-in"])
def test_the_python_example_as_it_stands(server, run_with, upload, tmp_path, is_logged_in):
    login = log_in(tmp_path) if is_logged_in else {}
    done = run_with(sys.executable, "-c", PYTHON_EXAMPLE % "", upload(server, "probe"), **login)
    assert done.returncode == 0, done.stderr + server.stderr()
    assert without_state(done.stdout) == ["STATE QUEUED", REASON, "LISTED ['from_python']"]
    assert not (tmp_path / "gcloud/credentials.db").exists()


def test_curl_finds_objects_metadata_and_the_api(server, run_with):
    server.upload("input", "greeting", b"hello")
    assert run_with("curl", "-sSf", "https://storage.googleapis.com/input/greeting").stdout == "hello"
    assert run_with("curl", "-sSf", "-H", "Metadata-Flavor: Google", PROJECT).stdout == "trainyard"
    token = run_with("curl", "-sSf", "-H", "Metadata-Flavor: Google",
                     PROJECT.replace("project/project-id", "instance/service-accounts/default/token"))
    bearer = json.loads(token.stdout)["access_token"]
    listed = run_with("curl", "-sSf", "-H", f"Authorization: Bearer {bearer}", "https://ml.googleapis.com/v1/projects/p/jobs")
    assert listed.returncode == 0 and json.loads(listed.stdout) == {}, listed.stderr


def test_a_proxy_of_the_machine_is_passed_over(server, run_with):
    server.upload("input", "greeting", b"hello")
    nowhere = "http://127.0.0.1:1"
    done = run_with("curl", "-sSf", "https://storage.googleapis.com/input/greeting", https_proxy=nowhere, HTTPS_PROXY=nowhere)
    assert done.stdout == "hello", done.stderr


def test_it_ends_as_the_command_does(run_with):
    assert run_with("sh", "-c", "exit 7").returncode == 7
    assert run_with("sh", "-c", "kill -KILL $$").returncode == 128 + signal.SIGKILL
    missing = run_with("no-such-program")
    assert (missing.returncode, missing.stderr) == (127, "trainyard: cannot run no-such-program: No such file or directory\n")


def test_signals_reach_the_command(server, tmp_path):
    script = "trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.01; done"
    with subprocess.Popen([PROGRAM, "with", "--data", str(server.data), "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True,
                          env=own_environment(tmp_path)) as running:
        said = Output(running.stdout)
        assert said.line() == "ready\n"
        running.terminate()
        assert said.rest() == b"asked\n"
        assert running.wait(60) == 5


def test_the_terminal_is_the_commands(server, tmp_path):
    """Its size, and Ctrl-C, which reaches the command once."""
    script = "trap 'echo stopped; exit 5' INT; stty size; while :; do sleep 0.01; done"
    pid, master = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in what a shell runs in the background, and then for good
        os.execve(PROGRAM, [PROGRAM, "with", "--data", str(server.data), "--", "sh", "-c",
                            "stty rows 33 cols 77; " + script], own_environment(tmp_path))
    shown = Output(master)
    shown.until(b"33 77")
    os.write(master, b"\x03")
    shown.rest()
    _, status = os.waitpid(pid, 0)
    os.close(master)
    assert os.waitstatus_to_exitcode(status) == 5 and shown.seen.count(b"stopped") == 1, shown.seen


def mounts_of(server):
    """Those of its data and of what a command with it sees in place of a file of the machine. Other tests mount beside this one."""
    return [line for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()
            if str(server.data) in line or line.split()[1].startswith("/etc/")]


def test_nothing_of_it_is_seen_outside_or_left(server, run_with, tmp_path):
    """The first one makes what stands in for the user's credentials; a second one, nothing."""
    login = log_in(tmp_path)
    run_with("true", **login)
    hosts, mounts = pathlib.Path("/etc/hosts").read_text(), mounts_of(server)
    files = sorted(path for path in server.data.rglob("*") if "-wal" not in path.name and "-shm" not in path.name)
    seen = run_with("cat", "/etc/hosts", **login).stdout
    assert "\tstorage.googleapis.com\n" in seen and "\tmetadata.google.internal\n" in seen
    assert hosts in seen and pathlib.Path("/etc/hosts").read_text() == hosts
    assert mounts_of(server) == mounts
    assert sorted(path for path in server.data.rglob("*") if "-wal" not in path.name and "-shm" not in path.name) == files
    assert not processes_with(f"with\0--data\0{server.data}".replace("\0", " "))


def test_after_env_it_needs_no_flag_and_is_none_within_itself(server, tmp_path):
    server.upload("input", "greeting", b"hello")
    script = ('eval "$("$0" env --data "$1")" && "$0" with -- sh -c \'"$0" with -- curl -sSf '
              'https://storage.googleapis.com/input/greeting && "$0" storage cat gs://input/greeting\' "$0"')
    done = subprocess.run(["bash", "-c", script, PROGRAM, str(server.data)], capture_output=True, text=True, timeout=120,
                          env=own_environment(tmp_path))
    assert done.returncode == 0 and done.stdout == "hellohello", done.stderr


def test_what_cannot_be_run_says_why(server, make_server, tmp_path):
    def said(*words, status=1):
        done = subprocess.run([PROGRAM, "with", *words], capture_output=True, text=True, timeout=120, env=own_environment(tmp_path))
        assert done.returncode == status and done.stdout == "", done
        return done.stderr

    assert said(status=2).startswith(
        "ERROR: (trainyard.with) argument COMMAND: Must be specified: trainyard with -- COMMAND [ARGS]\nUsage: ")
    nowhere = tmp_path / "nowhere"
    assert said("--data", str(nowhere), "--", "true") == (
        f"ERROR: (trainyard.with) No server has run with the data directory {nowhere}. "
        f"Start one: trainyard serve --data {nowhere}\n")
    assert said("--server", server.url, "--", "true") == (
        f"ERROR: (trainyard.with) The server at {server.url} (from: --server) is not that of the data directory "
        f"{tmp_path}/.local/share/trainyard, where its certificate would be. Name its own: trainyard with --data DIR -- COMMAND\n")
    off = make_server("--google-front", "off")
    assert said("--data", str(off.data), "--", "true") == (
        f"ERROR: (trainyard.with) The server at {off.url} does not serve Google's host names: it was started with --google-front "
        f"off, or its first log lines say why. Restart it: trainyard serve --data {off.data}\n")


@pytest.fixture
def users_server(tmp_path_factory):
    """A server of an ordinary account, which may not have port 443."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("becoming another user needs root and setpriv")
    folder = tmp_path_factory.mktemp("account")
    for path in (folder, *folder.parents):
        if path.stat().st_uid == os.geteuid() and path != pathlib.Path("/tmp") and path != pathlib.Path("/"):
            path.chmod(0o755)
    server = ServerOfAccount(folder, USER)
    yield server
    server.stop()
    end_supervisors(server.data)


LOOK = ("curl -sSf https://storage.googleapis.com/input/greeting; echo; "
        f"curl -sSf -H 'Metadata-Flavor: Google' {PROJECT}; echo; id -u; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status")


def test_an_ordinary_user_has_all_of_it_and_gains_nothing(users_server):
    users_server.upload("input", "greeting", b"hello")
    program = users_server.program.parent / "program"
    done = users_server.owner("env", f"HOME={program.parent}/home", str(program), "with", "--data", str(users_server.data), "--", "sh",
                              "-c", LOOK)
    assert done.returncode == 0, done.stderr + users_server.stderr()
    assert done.stdout.split("\n") == ["hello", "trainyard", str(USER), "CapEff:\t0000000000000000", "NoNewPrivs:\t1", ""]


def test_root_is_led_to_the_server_of_another_account(users_server, tmp_path):
    users_server.upload("input", "greeting", b"hello")
    done = subprocess.run([PROGRAM, "with", "--data", str(users_server.data), "--", "sh", "-c", LOOK], capture_output=True, text=True,
                          timeout=120, env=own_environment(tmp_path))
    assert done.stdout.startswith(f"hello\ntrainyard\n{os.geteuid()}\n"), done.stderr


def test_another_account_is_told_whose_server_it_is(users_server):
    program = users_server.program.parent / "program"
    for words in (["with", "--", "true"], ["jobs", "list"], ["env"]):
        done = subprocess.run(become(NOBODY, str(program), *words), capture_output=True, text=True, timeout=120, cwd="/",
                              env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TRAINYARD_DATA": str(users_server.data)})
        path = ".".join(words[:2]) if words[0] == "jobs" else words[0]
        assert (done.returncode, done.stderr) == (
            1, f"ERROR: (trainyard.{path}) The data directory {users_server.data} is {USER}'s, and this account may not read it. A server "
               f"answers only its own account and root: run this as {USER}, or start the server with --allow-local-users and set "
               "--server or TRAINYARD_SERVER.\n")


def test_a_machine_without_user_namespaces_names_the_setting(users_server):
    """A user namespace in which there may be no further ones stands for the machine."""
    program = users_server.program.parent / "program"
    inside = ("echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "
              f'--ambient-caps=-all "{program}" with --data "{users_server.data}" -- true')
    done = users_server.owner("unshare", "--user", "--map-root-user", "sh", "-c", inside)
    assert done.returncode == 1
    assert done.stderr == ("ERROR: (trainyard.with) this machine does not allow user namespaces (unshare: No space left on device); "
                           "as root: sysctl user.max_user_namespaces=10000\n")
