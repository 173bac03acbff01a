"""`trainyard with` and clients that have to be fetched: Python's of 2018 to today, gsutil, gcloud, Java, Go. Run by ./dev test --long."""

import pathlib
import shutil
import subprocess
import sys

import pytest

from test_clients import PYTHON_EXAMPLE, REASON, without_state
from test_clients_with import log_in, own_environment, run_with  # fixtures  # noqa: F401
from trainyard_server import PROGRAM, ROOT

pytestmark = pytest.mark.long
CLIENTS = ROOT / "tests/e2e/clients"
KEPT = ROOT / "build/clients"  # what was fetched
# A client, and the Python of its days.
AGES = [("1.7.0", "3.6"), ("1.7.12", "3.7"), ("1.12.11", "3.8"), ("2.0.2", "3.9"), ("2.70.0", "3.10"), ("2.202.0", "3.13")]


def find_python(version):
    for path in [shutil.which(f"python{version}"), *(pathlib.Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python")]:
        if path and subprocess.run([path, "-c", "import venv"], capture_output=True).returncode == 0:
            return str(path)
    return sys.executable


def venv(name, python, *packages):
    folder = KEPT / name
    if not (folder / "made").exists():
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(folder / "bin/python"), "-m", "pip", "install", "-q", *packages], check=True)
        (folder / "made").touch()
    return folder / "bin"


@pytest.mark.parametrize("is_logged_in", [False, True], ids=["fresh", "logged-in"])
@pytest.mark.parametrize("age, python", AGES, ids=[age for age, _ in AGES])
def test_the_python_example(server, run_with, upload, tmp_path, age, python, is_logged_in):  # noqa: F811
    # google-auth 2.45 asks no metadata server without requests, which clients before 1.8 do not bring along.
    program = venv(f"google-api-python-client-{age}", find_python(python), f"google-api-python-client=={age}", "requests") / "python"
    done = run_with(str(program), "-c", PYTHON_EXAMPLE % "", upload(server, "probe"), **(log_in(tmp_path) if is_logged_in else {}))
    assert done.returncode == 0, done.stderr
    assert without_state(done.stdout) == ["STATE QUEUED", REASON, "LISTED ['from_python']"]


GSUTIL = """set -e
"$0" mb gs://from-gsutil
"$0" -q cp greeting gs://from-gsutil/dir/a
"$0" -q -m rsync -r folder gs://from-gsutil/rsynced
"$0" -q cp gs://from-gsutil/dir/a copied
"$0" cat gs://from-gsutil/dir/a; echo
"$0" ls -r gs://from-gsutil/
"$0" ls
"$0" -q rm gs://from-gsutil/dir/a
"""


def check_gsutil(done, tmp_path):
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "copied").read_text() == "hello"
    for line in ("hello", "gs://from-gsutil/rsynced/b", "gs://from-gsutil/"):
        assert line in done.stdout.splitlines(), done.stdout


@pytest.fixture(params=["from-pypi", "of-the-system"])
def gsutil(request, tmp_path):
    (tmp_path / "greeting").write_text("hello")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/b").write_text("b")
    if request.param == "from-pypi":
        return str(venv("gsutil", find_python("3.11"), "gsutil") / "gsutil")
    if not shutil.which("gsutil"):
        pytest.skip("no gsutil on PATH")
    return shutil.which("gsutil")


def test_gsutil(run_with, gsutil, tmp_path):  # noqa: F811
    check_gsutil(run_with("sh", "-c", f"cd {tmp_path}\n" + GSUTIL, gsutil, timeout=600), tmp_path)


def test_gsutil_after_env(server, gsutil, tmp_path):
    script = f'eval "$("$1" env --data "$2")"\ncd {tmp_path}\n' + GSUTIL
    check_gsutil(subprocess.run(["bash", "-c", script, gsutil, PROGRAM, str(server.data)], capture_output=True, text=True, timeout=600,
                                env=own_environment(tmp_path)), tmp_path)


def test_gcloud(server, run_with, upload, gcloud, tmp_path):  # noqa: F811
    server.submit("seen", packageUris=[upload(server, "probe")], pythonModule="probe.task")
    server.wait("seen")
    script = (f"set -e\n{gcloud} ai-platform jobs describe seen --project p --format='value(state)'\n"
              f"echo hello > {tmp_path}/greeting\n{gcloud} storage cp {tmp_path}/greeting gs://packages/greeting\n"
              f"{gcloud} storage cat gs://packages/greeting\n{gcloud} storage ls gs://packages/greeting\n")
    done = run_with("sh", "-c", script, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["SUCCEEDED", "hello", "gs://packages/greeting"]


def test_java(run_with, tmp_path):  # noqa: F811
    if not shutil.which("mvn"):
        pytest.skip("no mvn on PATH")
    built = KEPT / "java"
    if not (built / "classpath").exists():
        shutil.copytree(CLIENTS / "java", built, dirs_exist_ok=True)
        subprocess.run(["mvn", "-q", "-B", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath"], cwd=built, check=True)
    classpath = f"{built}/target/classes:{(built / 'classpath').read_text().strip()}"
    done = run_with("java", "-cp", classpath, "Example", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["READ from java", "LISTED dir/hello", "PROJECT trainyard", "LEFT false", "JOBS 200"]


def test_go(run_with):  # noqa: F811
    if not shutil.which("go"):
        pytest.skip("no go on PATH")
    built = KEPT / "go"
    if not (built / "example").exists():
        shutil.copytree(CLIENTS / "go", built, dirs_exist_ok=True)
        for words in (["mod", "init", "trainyard.example/storage"], ["get", "cloud.google.com/go/storage@latest"],
                      ["build", "-o", "example", "."]):
            subprocess.run(["go", *words], cwd=built, check=True)
    done = run_with(str(built / "example"), timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["READ from go", "LISTED dir/hello"]

